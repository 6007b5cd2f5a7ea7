// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// Brings the occurrences of each row together.
namespace tutti::kernels {

/// An occurrence of a row: (row << 32) | payload, where the payload names the bag or the position.
using Occurrence = std::uint64_t;

inline std::uint32_t row_of(Occurrence occurrence) { return static_cast<std::uint32_t>(occurrence >> 32); }
inline std::uint32_t payload_of(Occurrence occurrence) { return static_cast<std::uint32_t>(occurrence); }

/// Reusable memory of group_rows.
struct GroupScratch {
  std::vector<Occurrence> input;  ///< filled by the caller; spoilt by grouping
  std::vector<Occurrence> other;
  std::vector<Occurrence> repeated;
  std::vector<std::uint64_t> seen;
  std::vector<std::uint32_t> slots;
  std::vector<std::uint32_t> links;
};

enum class RowOrder : std::uint8_t { any, ascending };

/// The occurrences of scratch.input so that those of a row are neighbours, in the order in which they were given. Few
/// are chained through a hash table (rows then come in the order of first sight); of many, in a table of far more rows,
/// those of rows that occur once come first, in the order given, and the rest are sorted; else all are, by a stable
/// radix sort over the bits that rows below `rows` need. The span is valid until the scratch is used again.
std::span<const Occurrence> group_rows(GroupScratch& scratch, std::uint64_t rows, RowOrder order = RowOrder::any);

}  // namespace tutti::kernels
