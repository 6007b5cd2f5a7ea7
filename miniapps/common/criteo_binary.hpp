// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>

#include "data/draft_file.hpp"
#include "data_source.hpp"

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

/// Random access to a file of CriteoRecord. Memory: a buffer of the records read last.
class CriteoRecordFile {
 public:
  /// Throws tutti::Error (io), naming the file, where it cannot be opened, is empty or ends inside a record.
  explicit CriteoRecordFile(const std::filesystem::path& path);
  ~CriteoRecordFile();
  CriteoRecordFile(const CriteoRecordFile&) = delete;
  CriteoRecordFile& operator=(const CriteoRecordFile&) = delete;

  [[nodiscard]] std::uint64_t size() const { return records_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Reads records [first, first + out.size()). Throws tutti::Error (io), naming file and sample, where a label is
  /// neither 0 nor 1 or a number is negative.
  void read(std::uint64_t first, std::span<CriteoRecord> out) const;

 private:
  std::filesystem::path path_;
  int file_ = -1;
  std::uint64_t records_ = 0;
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

/// Puts records into a batch: dense = log(x + 1), one index a table, modulo `max_ind_range` where above 0. `first` is
/// the number of records[0] within the batch. The batch must be prepared by prepare_criteo_batch.
void prepare_criteo_batch(std::size_t count, SampleRange range, std::size_t tables, Batch& batch);
void put_criteo_record(const CriteoRecord& record, std::size_t sample, std::int64_t max_ind_range,
                       std::span<const std::size_t> tables, Batch& batch);

struct CriteoBinaryOptions {
  std::filesystem::path prefix;  ///< files PREFIX_train.bin, PREFIX_test.bin and, optional, PREFIX_val.bin
  std::int64_t max_ind_range = -1;
};

/// The reference's binary data set. Rows of the tables come from a scan at the start (bounded memory); samples in file
/// order.
class CriteoBinary : public DataSource {
 public:
  explicit CriteoBinary(const CriteoBinaryOptions& options);
  ~CriteoBinary() override;

  [[nodiscard]] std::size_t dense_features() const override { return criteo_dense; }
  [[nodiscard]] const std::vector<std::uint64_t>& table_rows() const override { return rows_; }
  [[nodiscard]] std::uint64_t samples(Split split) const override;
  [[nodiscard]] std::string description() const override;
  void read(Split split, std::size_t batch_size, std::uint64_t k, SampleRange range,
            std::span<const std::size_t> tables, Batch& batch) override;

 private:
  std::vector<std::unique_ptr<CriteoRecordFile>> files_;
  std::int64_t max_ind_range_;
  std::vector<std::uint64_t> rows_;
  std::vector<CriteoRecord> buffer_;
};

}  // namespace tutti::miniapps
