// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <tutti/kernels/embedding_bag.hpp>

/// What forward and backward share: values of rows, index policy and prefetch.
namespace tutti::kernels {

inline float row_value(float x) { return x; }
inline float row_value(bfloat16_t x) { return static_cast<float>(x); }
inline float row_value(float16_t x) { return detail::widen_float16(x.bits); }

/// Rows between the one in work and the one whose cache lines are asked for.
inline constexpr std::int64_t look_ahead = 12;

template <bool Write>
inline void prefetch_bytes(const void* start, std::size_t bytes) {
  const auto* line = static_cast<const char*>(start);
  for (std::size_t k = 0; k < bytes; k += 64) __builtin_prefetch(line + k, Write ? 1 : 0, 3);
}

/// The row of an index under a policy, or -1 where it is left out.
template <IndexPolicy Policy>
inline std::int64_t resolve(std::int64_t index, std::int64_t rows) {
  if constexpr (Policy == IndexPolicy::fatal) return index;
  const bool inside = static_cast<std::uint64_t>(index) < static_cast<std::uint64_t>(rows);
  if (inside) return index;
  if (Policy == IndexPolicy::ignore || rows == 0) return -1;
  return index < 0 ? 0 : rows - 1;
}

/// Checks shapes and types of a call, and its indices when the policy is fatal; throws tutti::Error.
void check_call(const char* function, std::span<const EmbeddingTable> tables, std::span<const TableLookups> lookups,
                std::size_t outputs, IndexType index_type, std::size_t bags, const EmbeddingOptions& options);

/// Calls visit(Row*, Index*) with null pointers of the types at run time.
template <typename Visit>
void visit_row_and_index(DatatypeKind row, IndexType index, const Visit& visit) {
  const auto with_index = [&]<typename Row>(Row* tag) {
    if (index == IndexType::int32) {
      visit(tag, static_cast<std::int32_t*>(nullptr));
    } else {
      visit(tag, static_cast<std::int64_t*>(nullptr));
    }
  };
  switch (row) {
    case DatatypeKind::bfloat16:
      return with_index(static_cast<bfloat16_t*>(nullptr));
    case DatatypeKind::float16:
      return with_index(static_cast<float16_t*>(nullptr));
    default:
      return with_index(static_cast<float*>(nullptr));
  }
}

}  // namespace tutti::kernels
