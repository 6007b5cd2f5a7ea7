// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tutti/kernels/embedding_bag.hpp>

/// Shared by forward and backward: index policy, prefetch and the choice of types.
namespace tutti::kernels {

/// Rows between the current one and those that are prefetched: first to the second-level cache, which has more misses
/// in flight, then from there to the first.
inline constexpr std::int64_t look_ahead = 48;
inline constexpr std::int64_t look_near = 8;

enum class CacheLevel : std::uint8_t { first, second };

/// Prefetches memory for reading, even if it will be written: asking for ownership early is slower. The empty
/// instruction is there because GCC takes a function that only prefetches for one without effect, and drops its calls.
template <CacheLevel Level>
inline void prefetch_bytes(const void* start, std::size_t bytes) {
  const auto* line = static_cast<const char*>(start);
  asm volatile("" : : "r"(line));
  for (std::size_t k = 0; k < bytes; k += 64) __builtin_prefetch(line + k, 0, Level == CacheLevel::first ? 3 : 2);
}

/// The row of an index under a policy, or -1 if the index is left out.
TUTTI_FUNCTION constexpr std::int64_t resolve(IndexPolicy policy, std::int64_t index, std::int64_t rows) {
  const bool inside = static_cast<std::uint64_t>(index) < static_cast<std::uint64_t>(rows);
  if (inside || policy == IndexPolicy::fatal) return index;
  if (policy == IndexPolicy::ignore || rows == 0) return -1;
  return index < 0 ? 0 : rows - 1;
}
template <IndexPolicy Policy>
TUTTI_FUNCTION constexpr std::int64_t resolve(std::int64_t index, std::int64_t rows) {
  return resolve(Policy, index, rows);
}

/// Checks shapes and types of a call, and its indices if the policy is fatal; throws tutti::Error.
void check_call(const char* function, std::span<const EmbeddingTable> tables, std::span<const TableLookups> lookups,
                std::size_t outputs, IndexType index_type, std::size_t bags, const EmbeddingOptions& options);

/// Checks shape and type of a table, which the message calls `where`; throws tutti::Error.
void check_table(const std::string& where, const EmbeddingTable& table);

/// Calls visit(Stored*) with a null pointer of the type in which rows are stored.
template <typename Visit>
void visit_row(DatatypeKind row, const Visit& visit) {
  switch (row) {
    case DatatypeKind::bfloat16:
      return visit(static_cast<bfloat16_t*>(nullptr));
    case DatatypeKind::float16:
      return visit(static_cast<float16_t*>(nullptr));
    case DatatypeKind::uint8:
      return visit(static_cast<std::uint8_t*>(nullptr));
    default:
      return visit(static_cast<float*>(nullptr));
  }
}

/// Calls visit(Index*) with a null pointer of the type of indices.
template <typename Visit>
void visit_index(IndexType index, const Visit& visit) {
  if (index == IndexType::int32) {
    visit(static_cast<std::int32_t*>(nullptr));
  } else {
    visit(static_cast<std::int64_t*>(nullptr));
  }
}

}  // namespace tutti::kernels
