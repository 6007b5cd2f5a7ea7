// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <tutti/detail/export.hpp>

namespace tutti::kernels {

/// Returns table memory to the system.
struct TUTTI_EXPORT TableDeleter {
  std::size_t bytes = 0;
  void operator()(std::byte* memory) const noexcept;
};

using TableMemory = std::unique_ptr<std::byte, TableDeleter>;

/// Zeroed host memory for a large table: aligned to 2 MiB and offered to the kernel for huge pages, without which
/// random rows cost a TLB miss each. Throws Error(out_of_memory).
[[nodiscard]] TUTTI_EXPORT TableMemory allocate_table(std::size_t bytes);

}  // namespace tutti::kernels
