// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <filesystem>
#include <tutti/communicator.hpp>
#include <vector>

#include "data/npy.hpp"
#include "data/sidecar.hpp"
#include "data_source.hpp"
#include "sample_order.hpp"

namespace tutti::miniapps {

struct DayArraysOptions {
  std::filesystem::path folder;  ///< with the sidecar data.json, or as describe_array_days() says
  std::int64_t max_ind_range = -1;
  Shuffle shuffle = Shuffle::none;  ///< not day
  std::uint32_t seed = 123;
  std::vector<std::uint64_t> rows{};  ///< of the tables, before max_ind_range, where there is no sidecar
};

/// A data set of day files as MLPerf's multi-hot set has them (Sidecar, format "criteo-npy"): bags of one length a
/// table, or ragged ones. Its files are mapped, so that a rank reads what it asks for; members of an npz that are
/// deflated are decompressed at the start. Samples and rows are those of the sidecar; without one, samples are those
/// of describe_array_days() and rows are given.
class DayArrays : public DataSource {
 public:
  /// Throws tutti::Error (io), one line that names the file, where one does not fit the sidecar.
  explicit DayArrays(const DayArraysOptions& options);

  [[nodiscard]] std::size_t dense_features() const override { return sidecar_.dense_features; }
  [[nodiscard]] const std::vector<std::uint64_t>& table_rows() const override { return rows_; }
  [[nodiscard]] std::vector<double> mean_lookups() const override;
  [[nodiscard]] std::vector<LookupCounts> lookup_counts() const override;
  [[nodiscard]] std::uint64_t samples(Split split) const override;
  [[nodiscard]] std::string description() const override;
  void begin_epoch(std::uint64_t epoch) override { order_.begin_epoch(epoch); }
  /// Throws tutti::Error (io) for a label that is neither 0 nor 1, a dense feature that is not a number and an index
  /// that has no row.
  void read(Split split, std::size_t batch_size, std::uint64_t k, const BatchPart& part, Batch& batch) override;

 private:
  /// The bags of one table in one day.
  struct Bags {
    NpyArray indices;
    NpyArray offsets;  ///< ragged; else empty
    std::uint64_t hotness = 1;
  };
  struct Day {
    std::uint64_t first = 0;  ///< sample of the data set
    NpyArray dense;
    NpyArray labels;
    std::vector<Bags> tables;
  };
  /// A sample's place.
  struct Row {
    const Day* day = nullptr;
    std::uint64_t row = 0;
  };
  void add_day(const std::array<const SidecarFile*, 3>& files, const std::filesystem::path& folder);
  [[nodiscard]] Row find(std::uint64_t sample) const;
  /// Finds the samples of a range of a batch.
  void find_rows(Split split, std::size_t batch_size, std::uint64_t k, SampleRange range);
  void put_dense(Row from, float* dense, float& label) const;
  [[noreturn]] void fail_index(Row from, std::size_t table, std::int64_t index) const;
  void put_bags(std::size_t table, std::span<const Row> rows, TableBags& bags) const;

  Sidecar sidecar_;
  std::filesystem::path folder_;
  std::int64_t max_ind_range_;
  std::vector<std::uint64_t> rows_;
  SampleOrder order_;
  std::vector<MappedFile> files_;
  std::vector<NpzFile> zips_;
  std::vector<Day> days_;
  std::vector<Row> found_;
};

/// The rows that each table needs for the indices of a folder without a sidecar, as scanned_rows() finds them.
/// Collective over `comm`; blocking. Throws AgreedError, one line that names the file.
[[nodiscard]] std::vector<std::uint64_t> array_day_rows(const Communicator& comm, const std::filesystem::path& folder,
                                                        const std::filesystem::path& cache_dir = {});

}  // namespace tutti::miniapps
