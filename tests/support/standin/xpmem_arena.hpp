// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

/// The file in memory that holds the heap of a process with the stand-in for XPMEM. Nothing here calls malloc.
namespace tutti::test::standin_xpmem {

inline constexpr std::size_t arena_bytes = std::size_t{256} << 30U;
inline constexpr std::uintptr_t arena_begin = std::uintptr_t{1} << 44U;
/// The unit in which blocks are unmapped, a multiple of every usual page size.
inline constexpr std::size_t granule = std::size_t{64} << 10U;

[[nodiscard]] constexpr bool is_in_arena(std::uintptr_t address) {
  return address >= arena_begin && address < arena_begin + arena_bytes;
}

/// Makes the arena if there is none. Returns its file descriptor, or -1.
int open_arena() noexcept;
/// Gives the pages of a freed block back and takes them from all processes.
void unmap_block(std::uintptr_t begin, std::size_t bytes) noexcept;
/// Makes a block usable again. The block was unmapped before.
void map_block(std::uintptr_t begin, std::size_t bytes) noexcept;
/// Whether a process has touched an unmapped block.
[[nodiscard]] bool is_touched(std::uintptr_t begin, std::size_t bytes) noexcept;
/// The number of blocks that were touched while they were unmapped.
[[nodiscard]] int stale_touches() noexcept;

}  // namespace tutti::test::standin_xpmem
