// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <list>
#include <memory>
#include <tutti/communicator.hpp>

#include "data/parquet_set.hpp"
#include "data_source.hpp"
#include "sample_order.hpp"

namespace tutti::miniapps {

struct ParquetSourceOptions {
  std::filesystem::path path;  ///< a file, or a folder of them, as describe_parquet() says
  ParquetNames names{};
  std::int64_t max_ind_range = -1;
  Shuffle shuffle = Shuffle::none;  ///< none or interleaved
  std::uint32_t seed = 123;
  std::vector<std::uint64_t> rows{};  ///< of the tables, before max_ind_range, as parquet_rows() says
};

/// A data set of Parquet whose integers are rows of the tables. Samples are read one after the other, column by column,
/// from the row groups that a batch asks for, and no others. Dense features that are integers are taken as log(x + 1),
/// negative and missing ones as 0; reals are taken as they are.
class ParquetSource : public DataSource {
 public:
  /// Throws tutti::Error: io as describe_parquet() and where a table is of texts, whose rows are unknown;
  /// invalid_argument, with the remedy, for orders in which samples would be read one by one.
  explicit ParquetSource(const ParquetSourceOptions& options);

  [[nodiscard]] std::size_t dense_features() const override { return set_.dense_features; }
  [[nodiscard]] const std::vector<std::uint64_t>& table_rows() const override { return rows_; }
  [[nodiscard]] std::vector<double> mean_lookups() const override;
  [[nodiscard]] std::vector<LookupCounts> lookup_counts() const override;
  [[nodiscard]] std::uint64_t samples(Split split) const override;
  [[nodiscard]] std::string description() const override;
  void begin_epoch(std::uint64_t epoch) override { order_.begin_epoch(epoch); }
  /// Throws tutti::Error (io), naming sample and column, for a label that is neither 0 nor 1, a dense feature that is
  /// no finite number and an index that has no row.
  void read(Split split, std::size_t batch_size, std::uint64_t k, const BatchPart& part, Batch& batch) override;

 private:
  /// A row group that is read from its begin on.
  struct Cursor {
    std::size_t group = 0;   ///< of the data set
    std::uint64_t row = 0;   ///< the next one
    std::uint64_t used = 0;  ///< when, by count of uses
    std::vector<std::size_t> tables;
    std::shared_ptr<const ParquetFile> file;
    std::unique_ptr<ParquetRows> rows;
  };
  [[nodiscard]] Cursor make_cursor(std::size_t group, std::span<const std::size_t> tables) const;
  Cursor& cursor_at(std::size_t group, std::uint64_t row, std::span<const std::size_t> tables);
  [[nodiscard]] std::shared_ptr<const ParquetFile> open(std::size_t file) const;
  void read_run(std::uint64_t first, SampleRange places, const BatchPart& part, Batch& batch);
  void read_rows(Cursor& cursor, SampleRange places, Batch& batch);
  void next(Cursor& cursor, std::size_t column, std::size_t count);
  [[nodiscard]] double value(std::size_t i) const;
  [[nodiscard]] float feature(std::size_t i, bool is_count) const;
  [[noreturn]] void fail_at(const Cursor& cursor, std::size_t row, std::size_t column, const std::string& what) const;
  void read_labels(Cursor& cursor, std::span<float> labels);
  void read_feature(Cursor& cursor, std::size_t feature, std::size_t count, float* to);
  void read_bags(Cursor& cursor, std::size_t t, std::size_t count, TableBags& bags);

  ParquetSet set_;
  std::filesystem::path path_;
  bool has_counts_;  ///< as dense features
  std::int64_t max_ind_range_;
  std::vector<std::uint64_t> all_rows_;  ///< before max_ind_range
  std::vector<std::uint64_t> rows_;
  std::array<std::uint64_t, 3> splits_;  ///< samples of each
  SampleOrder order_;
  std::list<Cursor> cursors_;
  std::uint64_t uses_ = 0;
  ParquetValues values_;
};

/// As describe_parquet(), of columns whose values are rows of tables: throws for texts too.
[[nodiscard]] ParquetSet describe_numbered_parquet(const std::filesystem::path& path, const ParquetNames& names);

/// The rows that each table needs: those of the sidecar, else as scanned_rows() finds them, where each rank scans row
/// groups of its own. Collective over `comm`; blocking. Throws AgreedError, one line that names the file.
[[nodiscard]] std::vector<std::uint64_t> parquet_rows(const Communicator& comm, const std::filesystem::path& path,
                                                      const ParquetNames& names,
                                                      const std::filesystem::path& cache_dir = {});

}  // namespace tutti::miniapps
