// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/lookup_counts.hpp"

namespace tutti::miniapps {

/// How often the rows of one table occur in the data. Bucket b has the rows that occur 2^b to 2^(b+1) - 1 times.
struct SidecarCounts {
  std::array<std::uint64_t, 64> bucket_rows{};                   ///< rows of each bucket
  std::array<std::uint64_t, 64> bucket_lookups{};                ///< how often they occur together
  std::vector<std::pair<std::uint64_t, std::uint64_t>> hottest;  ///< row and count; by count, then by row
  std::vector<std::uint64_t> blocks;  ///< how often the rows of each of lookup_blocks() occur; empty: not counted
};

/// One table of a data set.
struct SidecarTable {
  std::uint64_t rows = 0;     ///< every index is below it
  std::uint64_t lookups = 0;  ///< indices of all samples together
  std::uint64_t hotness = 1;  ///< indices of a sample; of the largest bag where `ragged`
  bool ragged = false;        ///< bags differ in length
  std::uint64_t ids = 0;      ///< values of the dictionary that have rows; 0 without a dictionary
  SidecarCounts counts;
};

/// One file of a data set. Samples of files with the same content follow one another in the order of the list.
struct SidecarFile {
  std::string name;     ///< relative to the folder of the sidecar
  std::string content;  ///< records, dense, labels, sparse, samples or categories
  std::uint64_t samples = 0;
  std::uint64_t bytes = 0;
  std::uint32_t crc32 = 0;  ///< zlib's, of the whole file
};

/// What is known of a data set that tutti-data wrote. The file is one JSON object with these fields:
///   tutti_data  1, the version of this list
///   format      "criteo-binary": files of `records` (40 int32 a sample), in the order train, test, validation; or
///               "criteo-npy": a file of dense, labels and sparse a day: day_N_dense.npy (float32 [n][features], after
///               the logarithm), day_N_labels.npy (int32 [n][1]), day_N_sparse_multi_hot.npz (member T.npy of table T:
///               int32 [n][hotness]; of a ragged table int32 [lookups], and T_offsets.npy, int64 [n + 1]); or
///               "criteo-parquet": files of `samples`, day_N_PART.parquet, with columns label, int_J (int32 as records
///               hold them, float32 where the rule is "given") and cat_T (int32; lists of them where any table has bags
///               of several)
///   samples     {"train", "test", "validation"}: they follow one another in this order through all files
///   dense       {"features", "rule"}: rule "log1p" is log(max(x, 0) + 1), "log3" is log(max(x, -2) + 3). Records hold
///               max(x, 0) or max(x, -2) + 2, so that log(record + 1) is right for both. "given": the numbers of the
///               arrays or of the Parquet that were converted
///   dictionary  {"rule", "threshold", "hash_rows"}: rule "first" numbers ids by first appearance, "frequency" by
///   falling
///               count, "hash" has row 1 + hash % (hash_rows - 1), "none" has ids that are rows. With a threshold above
///               0, or a hash, row 0 stands for rare and for unknown ids
///   tables      [{"rows", "lookups", "hotness", "ragged", "ids", "buckets", "hottest", "blocks"}]: buckets
///               [[b, rows, lookups]], those that have rows; hottest [[row, count]], at most 4,096; blocks [lookups],
///               row r in block floor(r * n / rows) of n = min(rows, 1024)
///   files       [{"name", "content", "samples", "bytes", "crc32"}]
struct Sidecar {
  std::string format;
  std::uint64_t train = 0;  ///< samples
  std::uint64_t test = 0;
  std::uint64_t validation = 0;
  std::uint64_t dense_features = 0;
  std::string dense_rule = "log1p";
  std::string dictionary_rule = "none";
  std::uint64_t threshold = 0;
  std::uint64_t hash_rows = 0;
  std::vector<SidecarTable> tables;
  std::vector<SidecarFile> files;

  [[nodiscard]] std::uint64_t samples() const { return train + test + validation; }
};

inline constexpr const char* criteo_binary_format = "criteo-binary";
inline constexpr const char* criteo_npy_format = "criteo-npy";
inline constexpr const char* criteo_parquet_format = "criteo-parquet";
inline constexpr std::size_t most_hottest = 4096;

/// The sidecar's path: PREFIX.json, or data.json in the folder of day files that `prefix` names.
[[nodiscard]] std::filesystem::path sidecar_path(const std::filesystem::path& prefix);

/// Writes the sidecar whole or not at all. Throws tutti::Error (io) that names the file. One rank calls it.
void write_sidecar(const std::filesystem::path& path, const Sidecar& sidecar);

/// Reads a sidecar. Throws tutti::Error (io), one line that names the file, where it is none, is of another version or
/// contradicts itself. Local.
[[nodiscard]] Sidecar read_sidecar(const std::filesystem::path& path);

/// Throws tutti::Error (io), one line, for the first file that is missing or has another length. Reads no content.
void check_sidecar_files(const std::filesystem::path& path, const Sidecar& sidecar);

/// Adds `count` occurrences of a row that was not added before to the counts of a table, whose rows are known.
void add_row(SidecarTable& table, std::uint64_t row, std::uint64_t count);

/// Keeps the hottest rows, in their order; call it at last.
void sort_hottest(SidecarCounts& counts);

/// How often the rows of each table occur; empty for a sidecar that does not say it in full.
[[nodiscard]] std::vector<LookupCounts> lookup_counts(const Sidecar& sidecar);

}  // namespace tutti::miniapps
