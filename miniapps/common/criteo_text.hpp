// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <optional>

#include "criteo_binary.hpp"

namespace tutti::miniapps {

struct CriteoTextOptions {
  std::filesystem::path file;  ///< of text, or a folder of days, as text_files() says
  Shuffle shuffle = Shuffle::total;
  std::int64_t max_ind_range = -1;
  double sub_sample_rate = 0;       ///< share of the label-0 lines that is left out
  std::uint64_t max_bad_lines = 0;  ///< malformed lines that are skipped; one more is an error
  std::uint32_t seed = 123;
  bool all_test = false;            ///< every sample is a test sample; else the file is cut in days
  CategoryValues known;             ///< a numbering to continue, as of categories(); empty: none
  std::filesystem::path cache_dir;  ///< empty: TUTTI_CACHE_DIR, else a folder of this user in the temporary directory
};

/// What the conversion of a text file found.
struct CriteoTextSummary {
  std::uint64_t lines = 0;
  std::uint64_t bad_lines = 0;
  std::string first_bad_line;                ///< "line 31, field 5: ...", in a folder behind the file
  std::vector<std::uint64_t> day_offsets{};  ///< of the days among the kept samples, and the end of the last one
  std::array<std::uint64_t, criteo_tables> categories{};
};

/// Criteo's Kaggle text, plain or gzip, with the reference's preprocessing: category numbers in order of first
/// appearance, after those that are known already; one file cut in 7 days, of several each a day, and the last day
/// halved into test and validation. The text is streamed twice (lines, then conversion to a binary cache file that
/// later runs and the other ranks of the node reuse); a lock makes one process convert while the others wait. Memory:
/// the dictionaries, and what SampleOrder keeps. Throws tutti::Error (io), naming the first malformed line and field,
/// for more than max_bad_lines of them.
class CriteoText : public DataSource {
 public:
  explicit CriteoText(CriteoTextOptions options);

  [[nodiscard]] std::size_t dense_features() const override { return criteo_dense; }
  [[nodiscard]] const std::vector<std::uint64_t>& table_rows() const override { return rows_; }
  [[nodiscard]] std::uint64_t samples(Split split) const override;
  [[nodiscard]] std::string description() const override;
  void begin_epoch(std::uint64_t epoch) override { order_->begin_epoch(epoch); }
  void read(Split split, std::size_t batch_size, std::uint64_t k, const BatchPart& part, Batch& batch) override;

  /// Reads the file of the cache: a copy of the dictionaries.
  [[nodiscard]] CategoryValues categories() const override;

  [[nodiscard]] const CriteoTextSummary& summary() const { return summary_; }
  /// Writes the samples of a split, in their order, as the reference's binary file.
  void write_binary(Split split, const std::filesystem::path& path) const;

 private:
  [[nodiscard]] std::uint64_t first_sample(Split split) const;
  [[nodiscard]] CriteoSplit place(Split split) const;

  CriteoTextOptions options_;
  CriteoTextSummary summary_;
  std::unique_ptr<CriteoRecordFile> records_;
  std::filesystem::path categories_;
  std::vector<std::uint64_t> rows_;
  std::optional<SampleOrder> order_;  ///< of the training samples
};

}  // namespace tutti::miniapps
