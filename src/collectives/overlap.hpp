// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tutti::detail {

using Counts = std::span<const std::size_t>;

/// The elements of a buffer that a call reads or writes: blocks at displacements, or, without counts, all.
struct Touched {
  const void* address = nullptr;
  std::size_t count = 0;  ///< up to the end of the last block
  Counts counts{};
  Counts displs{};
};

/// Returns true if blocks of two buffers share memory. Compares each block only where the buffers as a whole meet.
[[nodiscard]] bool blocks_overlap(const Touched& a, const Touched& b, std::size_t unit);

/// Returns true if two buffers of elements of `unit` bytes share memory.
[[nodiscard]] inline bool overlap(const Touched& a, const Touched& b, std::size_t unit) {
  const auto first =
      reinterpret_cast<std::uintptr_t>(a.address);  // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast)
  const auto second =
      reinterpret_cast<std::uintptr_t>(b.address);  // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast)
  const bool meet = first < second ? second - first < a.count * unit : first - second < b.count * unit;
  if (!meet || a.count == 0 || b.count == 0) return false;
  return (a.counts.empty() && b.counts.empty()) || blocks_overlap(a, b, unit);
}

}  // namespace tutti::detail
