// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <tutti/communicator.hpp>

#include "data/draft_file.hpp"
#include "data_source.hpp"
#include "sample_order.hpp"

namespace tutti::miniapps {

inline constexpr std::size_t criteo_dense = 13;
inline constexpr std::size_t criteo_tables = 26;

/// One Criteo sample in the reference's binary format: 40 little-endian int32.
struct CriteoRecord {
  std::int32_t label;
  std::array<std::int32_t, criteo_dense> dense;  ///< before the logarithm, never negative
  std::array<std::int32_t, criteo_tables> categories;
};
static_assert(sizeof(CriteoRecord) == 160);

/// log(count + 1) of a dense feature that counts something, at least 0.
[[nodiscard]] float log_of_count(std::int32_t count);

/// Random access to a file of CriteoRecord. Its pages are mapped for single records, and read for runs of them. Throws
/// tutti::Error (io), naming file and sample, where a label is neither 0 nor 1, a number is negative, or the file has
/// become shorter.
class CriteoRecordFile {
 public:
  /// Throws tutti::Error (io), naming the file, where it cannot be opened, is empty or ends inside a record.
  explicit CriteoRecordFile(const std::filesystem::path& path);
  ~CriteoRecordFile();
  CriteoRecordFile(const CriteoRecordFile&) = delete;
  CriteoRecordFile& operator=(const CriteoRecordFile&) = delete;

  [[nodiscard]] std::uint64_t size() const { return records_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Reads records [first, first + out.size()).
  void read(std::uint64_t first, std::span<CriteoRecord> out) const;
  /// Reads the records of these numbers, each below size(), in any order.
  void gather(std::span<const std::uint64_t> numbers, std::span<CriteoRecord> out) const;

 private:
  std::filesystem::path path_;
  int file_ = -1;
  std::uint64_t records_ = 0;
  const CriteoRecord* mapped_ = nullptr;
};

/// Writes a file of CriteoRecord, which has its name from close() on. Throws as DraftFile.
class CriteoRecordWriter {
 public:
  explicit CriteoRecordWriter(const std::filesystem::path& path);

  void append(const CriteoRecord& record);
  void close();

 private:
  void flush();

  DraftFile file_;
  std::vector<CriteoRecord> pending_;
};

/// Where the samples of a split are: in `file` from record `first` on, in an order that is null where it is the file's.
struct CriteoSplit {
  const CriteoRecordFile* file = nullptr;
  std::uint64_t first = 0;
  const SampleOrder* order = nullptr;
};

/// Reads samples [begin, begin + out.size()) of batch k; batches are of `batch_size` samples.
void read_criteo_records(const CriteoSplit& split, std::size_t batch_size, std::uint64_t k, std::size_t begin,
                         std::span<CriteoRecord> out);

/// Reads a part of batch `k` into a batch of its size: dense = log(x + 1), and one index a table, modulo
/// `max_ind_range` where above 0. Memory: a block of records.
void read_criteo_batch(const CriteoSplit& split, std::size_t batch_size, std::uint64_t k, std::int64_t max_ind_range,
                       std::span<const std::size_t> tables, Batch& batch);

/// PREFIX_train.bin, PREFIX_test.bin and PREFIX_val.bin; the last one is empty where there is none.
[[nodiscard]] std::array<std::filesystem::path, 3> criteo_binary_files(const std::filesystem::path& prefix);

struct CriteoBinaryOptions {
  std::filesystem::path prefix;  ///< files PREFIX_train.bin, PREFIX_test.bin and, optional, PREFIX_val.bin
  std::int64_t max_ind_range = -1;
  Shuffle shuffle = Shuffle::none;  ///< not day: these files do not say where days begin
  std::uint32_t seed = 123;
  std::vector<std::uint64_t> rows{};  ///< of the tables, before max_ind_range, as criteo_binary_rows() says
};

/// The reference's binary data set: files of records. Reads them when samples are asked for, and not before.
class CriteoBinary : public DataSource {
 public:
  explicit CriteoBinary(const CriteoBinaryOptions& options);
  ~CriteoBinary() override;

  [[nodiscard]] std::size_t dense_features() const override { return criteo_dense; }
  [[nodiscard]] const std::vector<std::uint64_t>& table_rows() const override { return rows_; }
  /// Those of the sidecar, PREFIX.json, where there is one.
  [[nodiscard]] std::vector<LookupCounts> lookup_counts() const override;
  [[nodiscard]] std::uint64_t samples(Split split) const override;
  [[nodiscard]] std::string description() const override;
  void begin_epoch(std::uint64_t epoch) override { order_.begin_epoch(epoch); }
  void read(Split split, std::size_t batch_size, std::uint64_t k, const BatchPart& part, Batch& batch) override;

 private:
  std::filesystem::path sidecar_;
  std::vector<std::unique_ptr<CriteoRecordFile>> files_;
  std::int64_t max_ind_range_;
  std::vector<std::uint64_t> rows_;
  SampleOrder order_;
};

/// The rows that each table needs for the ids of a binary data set, PREFIX_train.bin and so on: those of its sidecar,
/// PREFIX.json, where there is one; else of an earlier scan of the same files, which is kept in the folder of the cache
/// (CriteoTextOptions::cache_dir); else of a scan that the ranks divide. Collective over `comm`; blocking. Throws
/// AgreedError, naming the file, where one cannot be read or holds no records of Criteo, and where the sidecar is of
/// other files.
[[nodiscard]] std::vector<std::uint64_t> criteo_binary_rows(const Communicator& comm,
                                                            const std::filesystem::path& prefix,
                                                            const std::filesystem::path& cache_dir = {});

/// The rows that ids of a data set need, of which no table has more than `max_ind_range` where above 0.
[[nodiscard]] std::vector<std::uint64_t> capped_rows(std::span<const std::uint64_t> rows, std::int64_t max_ind_range);

}  // namespace tutti::miniapps
