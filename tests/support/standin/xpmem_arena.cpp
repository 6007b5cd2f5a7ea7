// SPDX-License-Identifier: BSD-3-Clause
#include "support/standin/xpmem_arena.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

namespace tutti::test::standin_xpmem {
namespace {

void* address_of(std::uintptr_t at) {
  return reinterpret_cast<void*>(at);  // NOLINT(performance-no-int-to-ptr)
}

int make_arena() noexcept {
  const int low = memfd_create("standin-xpmem", MFD_CLOEXEC);
  if (low < 0) return -1;
  // Out of the way of programs that expect small numbers.
  const int file = fcntl(low, F_DUPFD_CLOEXEC, 700);
  close(low);
  if (file < 0 || ftruncate(file, static_cast<off_t>(arena_bytes)) != 0) return -1;
  void* at = mmap(address_of(arena_begin), arena_bytes, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, file, 0);
  return at == address_of(arena_begin) ? file : -1;
}

}  // namespace

int open_arena() noexcept {
  // The caller holds the lock of the heap the first time, so no second thread is here then.
  static int file = -2;
  if (file == -2) file = make_arena();
  return file;
}

void unmap_block(std::uintptr_t begin, std::size_t bytes) noexcept {
  fallocate(open_arena(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(begin - arena_begin),
            static_cast<off_t>(bytes));
  mprotect(address_of(begin), bytes, PROT_NONE);
}

void map_block(std::uintptr_t begin, std::size_t bytes) noexcept {
  mprotect(address_of(begin), bytes, PROT_READ | PROT_WRITE);
}

bool is_touched(std::uintptr_t begin, std::size_t bytes) noexcept {
  const auto offset = static_cast<off_t>(begin - arena_begin);
  const int saved = errno;
  const off_t data = lseek(open_arena(), offset, SEEK_DATA);
  errno = saved;
  return data >= 0 && data < offset + static_cast<off_t>(bytes);
}

}  // namespace tutti::test::standin_xpmem
