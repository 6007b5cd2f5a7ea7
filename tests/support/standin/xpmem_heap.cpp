// SPDX-License-Identifier: BSD-3-Clause
// malloc and its relatives for the stand-in for XPMEM. Small blocks have sizes that are powers of two and are used
// again, newest first. Large ones are unmapped when they are freed, and used again at the same address where they fit.
#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "support/standin/xpmem_arena.hpp"

namespace tutti::test::standin_xpmem {
namespace {

/// At the beginning of each block.
struct Block {
  std::size_t bytes;  ///< of the whole block
  Block* next_free;
};
/// In front of the memory that a caller has.
struct Tag {
  std::size_t usable;
  Block* block;
};
static_assert(sizeof(Block) == 16 && sizeof(Tag) == 16);

struct Hole {
  std::uintptr_t begin;
  std::size_t bytes;
};

constexpr std::size_t least_alignment = 16;
constexpr std::size_t small_classes = 17;  ///< up to 64 KiB
constexpr std::size_t most_holes = 1U << 16U;

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
std::uintptr_t unused = arena_begin;  ///< all addresses from here on are unused
std::uintptr_t small_next = 0;        ///< the rest of the granules that small blocks are cut from
std::uintptr_t small_end = 0;
Block* free_small[small_classes] = {};
Hole holes[most_holes];
std::size_t hole_count = 0;
int stale = 0;

class Lock {
 public:
  Lock() { pthread_mutex_lock(&mutex); }
  ~Lock() { pthread_mutex_unlock(&mutex); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
};

std::size_t rounded(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

std::uintptr_t take_unused(std::size_t bytes) {
  if (open_arena() < 0 || unused + bytes > arena_begin + arena_bytes) return 0;
  const std::uintptr_t at = unused;
  unused += bytes;
  return at;
}

Block* new_small(std::size_t bytes) {
  if (small_next + bytes > small_end) {
    constexpr std::size_t cut = std::size_t{1} << 20U;
    small_next = take_unused(cut);
    if (small_next == 0) return nullptr;
    small_end = small_next + cut;
  }
  auto* block = reinterpret_cast<Block*>(small_next);  // NOLINT(performance-no-int-to-ptr)
  small_next += bytes;
  return block;
}

Block* take_small(std::size_t need) {
  std::size_t number = 0;
  while ((std::size_t{1} << number) < need) ++number;
  Block* block = free_small[number];
  if (block != nullptr)
    free_small[number] = block->next_free;
  else
    block = new_small(std::size_t{1} << number);
  if (block != nullptr) block->bytes = std::size_t{1} << number;
  return block;
}

void count_touch(const Hole& hole) {
  if (is_touched(hole.begin, hole.bytes)) ++stale;
}

/// Takes the newest hole that is as long, else cuts the beginning off the newest that is longer.
std::uintptr_t take_hole(std::size_t bytes) {
  std::size_t found = hole_count;
  for (std::size_t i = hole_count; i-- > 0;) {
    if (holes[i].bytes == bytes) {
      found = i;
      break;
    }
    if (holes[i].bytes > bytes && found == hole_count) found = i;
  }
  if (found == hole_count) return 0;
  const std::uintptr_t at = holes[found].begin;
  count_touch({at, bytes});
  holes[found].begin += bytes;
  holes[found].bytes -= bytes;
  if (holes[found].bytes == 0) {
    std::copy(holes + found + 1, holes + hole_count, holes + found);
    --hole_count;
  }
  map_block(at, bytes);
  return at;
}

Block* take_large(std::size_t need) {
  const std::size_t bytes = rounded(need, granule);
  std::uintptr_t at = take_hole(bytes);
  if (at == 0) at = take_unused(bytes);
  auto* block = reinterpret_cast<Block*>(at);  // NOLINT(performance-no-int-to-ptr)
  if (block != nullptr) block->bytes = bytes;
  return block;
}

bool is_small(std::size_t bytes) { return bytes <= std::size_t{1} << (small_classes - 1); }

void give_back(Block* block) {
  const Lock lock;
  const std::size_t bytes = block->bytes;
  if (is_small(bytes)) {
    std::size_t number = 0;
    while ((std::size_t{1} << number) < bytes) ++number;
    block->next_free = free_small[number];
    free_small[number] = block;
    return;
  }
  const auto begin = reinterpret_cast<std::uintptr_t>(block);
  unmap_block(begin, bytes);
  if (hole_count < most_holes) holes[hole_count++] = {begin, bytes};
}

Tag& tag_of(void* memory) { return static_cast<Tag*>(memory)[-1]; }

bool is_ours(const void* memory) { return is_in_arena(reinterpret_cast<std::uintptr_t>(memory)); }

void* allocate(std::size_t bytes, std::size_t alignment) {
  alignment = std::max(alignment, least_alignment);
  if (bytes > arena_bytes / 2 || alignment > arena_bytes / 4) {
    errno = ENOMEM;
    return nullptr;
  }
  const std::size_t need = sizeof(Block) + sizeof(Tag) + bytes + (alignment - least_alignment);
  Block* block = nullptr;
  {
    const Lock lock;
    block = is_small(need) ? take_small(need) : take_large(need);
  }
  if (block == nullptr) {
    errno = ENOMEM;
    return nullptr;
  }
  const auto begin = reinterpret_cast<std::uintptr_t>(block);
  const std::uintptr_t at = rounded(begin + sizeof(Block) + sizeof(Tag), alignment);
  void* memory = reinterpret_cast<void*>(at);  // NOLINT(performance-no-int-to-ptr)
  tag_of(memory) = {block->bytes - (at - begin), block};
  return memory;
}

}  // namespace

int stale_touches() noexcept {
  const Lock lock;
  int now = stale;
  for (std::size_t i = 0; i < hole_count; ++i) now += is_touched(holes[i].begin, holes[i].bytes) ? 1 : 0;
  return now;
}

}  // namespace tutti::test::standin_xpmem

using tutti::test::standin_xpmem::allocate;
using tutti::test::standin_xpmem::give_back;
using tutti::test::standin_xpmem::is_ours;
using tutti::test::standin_xpmem::tag_of;

extern "C" {

void* malloc(std::size_t bytes) { return allocate(bytes, 0); }

// Memory that the loader has obtained before this library was there is left alone.
void free(void* memory) {
  if (!is_ours(memory)) return;
  const int saved = errno;
  give_back(tag_of(memory).block);
  errno = saved;
}

void* calloc(std::size_t count, std::size_t bytes) {
  std::size_t total = 0;
  if (__builtin_mul_overflow(count, bytes, &total)) {
    errno = ENOMEM;
    return nullptr;
  }
  void* memory = allocate(total, 0);
  return memory == nullptr ? nullptr : std::memset(memory, 0, total);
}

std::size_t malloc_usable_size(void* memory) { return is_ours(memory) ? tag_of(memory).usable : 0; }

void* realloc(void* memory, std::size_t bytes) {
  if (memory == nullptr) return allocate(bytes, 0);
  if (bytes == 0) {
    free(memory);
    return nullptr;
  }
  if (is_ours(memory) && tag_of(memory).usable >= bytes) return memory;
  void* made = allocate(bytes, 0);
  if (made != nullptr && is_ours(memory)) std::memcpy(made, memory, tag_of(memory).usable);
  if (made != nullptr) free(memory);
  return made;
}

void* reallocarray(void* memory, std::size_t count, std::size_t bytes) {
  std::size_t total = 0;
  if (__builtin_mul_overflow(count, bytes, &total)) {
    errno = ENOMEM;
    return nullptr;
  }
  return realloc(memory, total);
}

void* memalign(std::size_t alignment, std::size_t bytes) { return allocate(bytes, alignment); }
void* aligned_alloc(std::size_t alignment, std::size_t bytes) { return allocate(bytes, alignment); }
void* valloc(std::size_t bytes) { return allocate(bytes, tutti::test::standin_xpmem::granule); }
void* pvalloc(std::size_t bytes) {
  constexpr std::size_t whole = tutti::test::standin_xpmem::granule;
  return allocate((bytes + whole - 1) / whole * whole, whole);
}

int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
  const int saved = errno;
  *memory = allocate(bytes, alignment);
  errno = saved;
  return *memory == nullptr ? ENOMEM : 0;
}

}  // extern "C"
