// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "parquet.hpp"
#include "sidecar.hpp"

namespace tutti::miniapps {

/// The columns of a sample, as options name them: names joined by commas, of which "I*" stands for I and a number, in
/// the order of the numbers. Empty: label; int_* or I*; cat_* or C*.
struct ParquetNames {
  std::string label;
  std::string dense;
  std::string sparse;
};

/// A file of a data set of Parquet, which has samples.
struct ParquetSetFile {
  std::filesystem::path path;
  std::vector<std::uint64_t> groups;  ///< the rows of each row group
};

/// A row group of a data set.
struct ParquetGroup {
  std::size_t file = 0;
  std::size_t group = 0;
  std::uint64_t first = 0;  ///< sample of the data set
  std::uint64_t rows = 0;
};

/// Samples in files of Parquet.
struct ParquetSet {
  std::vector<ParquetSetFile> files;
  std::vector<ParquetGroup> groups;    ///< of all files, in the order of the samples; none is empty
  std::vector<ParquetColumn> columns;  ///< label, dense features, tables; of the tables with their lookups
  std::size_t dense_features = 0;
  std::vector<std::uint64_t> day_ends;  ///< samples before the end of each day
  std::optional<Sidecar> sidecar;

  [[nodiscard]] std::uint64_t samples() const { return groups.back().first + groups.back().rows; }
  [[nodiscard]] std::span<const ParquetColumn> dense() const { return std::span(columns).subspan(1, dense_features); }
  [[nodiscard]] std::span<const ParquetColumn> tables() const { return std::span(columns).subspan(1 + dense_features); }
  [[nodiscard]] std::vector<std::string> names() const;
  /// Whether all dense features are integers, which count something.
  [[nodiscard]] bool has_counts() const;
  /// Whether any table is of texts.
  [[nodiscard]] bool has_texts() const;
  /// Whether any table is of lists.
  [[nodiscard]] bool has_lists() const;
};

/// Whether a folder has files of Parquet. Local.
[[nodiscard]] bool has_parquet_files(const std::filesystem::path& folder);

/// The data set of files, and of folders, whose files *.parquet are taken by their names, numbers in them as numbers;
/// of a folder with the sidecar of tutti-data those that it names. Files of days, day_0.parquet or day_0_00000.parquet,
/// are days, several of the same number one; of others, and of a single day, each is a part of one text that is cut in
/// 7 days. Reads footers alone. Local. Throws tutti::Error (io), one line that names the file, where one is damaged or
/// lacks a column, and where files differ in what a column holds.
[[nodiscard]] ParquetSet describe_parquet(const std::vector<std::string>& paths, const ParquetNames& names);

/// The place of the first index that is negative or not below `rows`, else how many there are.
[[nodiscard]] std::size_t first_above(std::span<const std::int64_t> indices, std::uint64_t rows);

/// The row whose list has element `element` of the values.
[[nodiscard]] std::size_t row_of(const ParquetValues& values, std::size_t element);

/// Throws tutti::Error (io) that names file, sample and column.
[[noreturn]] void fail_parquet_value(const std::filesystem::path& path, std::uint64_t sample,
                                     const ParquetColumn& column, const std::string& what);

}  // namespace tutti::miniapps
