// SPDX-License-Identifier: BSD-3-Clause
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <tutti/error.hpp>
#include <tutti/kernels/table_memory.hpp>

namespace tutti::kernels {

namespace {

constexpr std::size_t huge_page = std::size_t{1} << 21;

/// Not to whole huge pages, most of which a small table would leave empty.
std::size_t whole_pages(std::size_t bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return (std::max<std::size_t>(bytes, 1) + page - 1) / page * page;
}

}  // namespace

void TableDeleter::operator()(std::byte* memory) const noexcept { munmap(memory, bytes); }

TableMemory allocate_table(std::size_t bytes) {
  const std::size_t size = whole_pages(bytes);
  const std::size_t reserved = size + huge_page;
  void* base = mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) {
    throw Error(ErrorCode::out_of_memory, "allocate_table: out of memory for " + std::to_string(bytes) + " bytes");
  }
  auto* begin = static_cast<std::byte*>(base);
  const std::size_t before = (huge_page - reinterpret_cast<std::uintptr_t>(begin) % huge_page) % huge_page;
  if (before > 0) munmap(begin, before);
  if (huge_page > before) munmap(begin + before + size, huge_page - before);
#ifdef MADV_HUGEPAGE
  madvise(begin + before, size, MADV_HUGEPAGE);
#endif
  return TableMemory(begin + before, TableDeleter{size});
}

}  // namespace tutti::kernels
