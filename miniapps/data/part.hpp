// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <span>
#include <tutti/error.hpp>
#include <vector>

#include "common/data/id_table.hpp"
#include "common/data/mapped_file.hpp"

namespace tutti::data {

/// Samples in columns.
struct Samples {
  Samples(std::size_t features, std::size_t tables) : dense(features), ids(tables), lengths(tables) {}
  std::vector<std::int32_t> labels;
  std::vector<std::vector<std::int32_t>> dense;     ///< [features][samples], before the logarithm
  std::vector<std::vector<std::uint32_t>> ids;      ///< [tables][lookups]
  std::vector<std::vector<std::uint32_t>> lengths;  ///< [tables][samples] of ragged tables; empty for the others
};

/// What all ranks know of a part.
struct PartFacts {
  std::uint64_t samples = 0;
  bool is_last = false;                ///< of its input file
  std::vector<std::uint64_t> ids;      ///< different ids of each table
  std::vector<std::uint64_t> lookups;  ///< ids of each table
};

/// Writes parts: files of the samples of one piece of the input, with the list of the different ids of each table and
/// their counts; the columns of ids hold places in that list. Keeps its tables from part to part.
class PartWriter {
 public:
  explicit PartWriter(std::size_t tables) : tables_(tables) {}
  /// The file has its name when it is whole. Replaces the ids in `samples`.
  void write(const std::filesystem::path& path, Samples& samples, bool is_last);

 private:
  std::vector<miniapps::IdTable> tables_;
};

/// Makes a part. An error names the rank that made it.
template <typename Make>
void make_on_rank(std::size_t rank, const Make& make) {
  try {
    make();
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{} (on rank {})", error.what(), rank));
  }
}

/// A part that was written, mapped.
class PartFile {
 public:
  /// Throws tutti::Error (io) where the file is not whole.
  explicit PartFile(const std::filesystem::path& path);

  [[nodiscard]] const PartFacts& facts() const { return facts_; }
  [[nodiscard]] std::span<const std::uint32_t> ids(std::size_t table) const { return lists_[table]; }
  [[nodiscard]] std::span<const std::uint32_t> counts(std::size_t table) const { return counts_[table]; }
  [[nodiscard]] std::span<const std::int32_t> labels() const { return labels_; }
  [[nodiscard]] std::span<const std::int32_t> dense(std::size_t feature) const { return dense_[feature]; }
  /// Places in ids(table), one a lookup.
  [[nodiscard]] std::span<const std::uint32_t> places(std::size_t table) const { return places_[table]; }
  [[nodiscard]] std::span<const std::uint32_t> lengths(std::size_t table) const { return lengths_[table]; }

 private:
  miniapps::MappedFile file_;
  PartFacts facts_;
  std::vector<std::span<const std::uint32_t>> lists_, counts_, places_, lengths_;
  std::vector<std::span<const std::int32_t>> dense_;
  std::span<const std::int32_t> labels_;
};

}  // namespace tutti::data
