// SPDX-License-Identifier: BSD-3-Clause
// The functions by which a rank gets and loses memory: mappings of files, which ranks share, and the heap, whose
// addresses return with another use.
#include <malloc.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cstdlib>
#include <new>

#include "simulation/accesses.hpp"
#include "simulation/scheduler.hpp"
#include "simulation/shared_memory.hpp"

using namespace tutti::simulation;

extern "C" {

void* __real_mmap(void* wanted, std::size_t bytes, int protection, int flags, int file, off_t begin);
int __real_munmap(void* begin, std::size_t bytes);
int __real_madvise(void* begin, std::size_t bytes, int advice);

void* __wrap_mmap(void* wanted, std::size_t bytes, int protection, int flags, int file, off_t begin) {
  void* made = __real_mmap(wanted, bytes, protection, flags, file, begin);
  const Scheduler* scheduler = Scheduler::here();
  struct stat found {};
  if (scheduler != nullptr && made != MAP_FAILED && (flags & MAP_SHARED) != 0 && fstat(file, &found) == 0)
    SharedMemory::current()->map(scheduler->rank(), made, bytes, found.st_ino);
  return made;
}

int __wrap_munmap(void* begin, std::size_t bytes) {
  const Scheduler* scheduler = Scheduler::here();
  if (scheduler != nullptr) SharedMemory::current()->unmap(scheduler->rank(), begin);
  return __real_munmap(begin, bytes);
}

int __wrap_madvise(void* begin, std::size_t bytes, int advice) {
  if (advice == MADV_REMOVE) erase_shared(begin, bytes, TUTTI_SITE);
  return __real_madvise(begin, bytes, advice);
}

}  // extern "C"

namespace {

void give_back(void* data, Site site) noexcept {
  forget_own(data, malloc_usable_size(data), site);
  std::free(data);
}

}  // namespace

void operator delete(void* data) noexcept { give_back(data, TUTTI_SITE); }
void operator delete[](void* data) noexcept { give_back(data, TUTTI_SITE); }
void operator delete(void* data, std::size_t /*bytes*/) noexcept { give_back(data, TUTTI_SITE); }
void operator delete[](void* data, std::size_t /*bytes*/) noexcept { give_back(data, TUTTI_SITE); }
void operator delete(void* data, std::align_val_t /*alignment*/) noexcept { give_back(data, TUTTI_SITE); }
void operator delete[](void* data, std::align_val_t /*alignment*/) noexcept { give_back(data, TUTTI_SITE); }
void operator delete(void* data, std::size_t /*bytes*/, std::align_val_t /*alignment*/) noexcept {
  give_back(data, TUTTI_SITE);
}
void operator delete[](void* data, std::size_t /*bytes*/, std::align_val_t /*alignment*/) noexcept {
  give_back(data, TUTTI_SITE);
}
