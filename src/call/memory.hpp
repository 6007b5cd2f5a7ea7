// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <tutti/buffer.hpp>
#include <vector>

#include "call/segment.hpp"

namespace tutti::detail {

/// What is behind an Allocation: the memory of all ranks of the node where it is shared, else this rank's alone.
struct Memory {
  Memory() = default;
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  shm::Segment segment{};
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  MemoryKind kind = MemoryKind::host;
  std::vector<std::uint64_t> parts{};  ///< under which the node's parts are known; none where nothing is shared
  std::uint64_t range = 0;             ///< under which device::Allocations knows it; 0: host memory
};

}  // namespace tutti::detail
