// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <tutti/buffer.hpp>
#include <vector>

#include "call/segment.hpp"

namespace tutti::detail {

/// The state of an Allocation: the memory of all ranks of the node if it is shared, else this rank's memory.
struct Memory {
  Memory() = default;
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  shm::Segment segment{};
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  MemoryKind kind = MemoryKind::host;
  std::vector<std::uint64_t> parts{};  ///< ids of the node's parts; empty if nothing is shared
  std::uint64_t range = 0;             ///< id in device::Allocations; 0: host memory
};

}  // namespace tutti::detail
