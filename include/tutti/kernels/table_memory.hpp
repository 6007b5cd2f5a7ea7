// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <tutti/detail/export.hpp>

namespace tutti::kernels {

/// Returns the memory of a table to the system.
struct TUTTI_EXPORT TableDeleter {
  std::size_t bytes = 0;
  void operator()(std::byte* memory) const noexcept;
};

/// Owns the memory of a table.
using TableMemory = std::unique_ptr<std::byte, TableDeleter>;

/// Allocates zeroed host memory for a large table. The memory is aligned to 2 MiB and offered to the kernel for huge
/// pages, because with small pages every random row costs a TLB miss. Local. Throws Error(out_of_memory).
[[nodiscard]] TUTTI_EXPORT TableMemory allocate_table(std::size_t bytes);

}  // namespace tutti::kernels
