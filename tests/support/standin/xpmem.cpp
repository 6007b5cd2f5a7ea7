// SPDX-License-Identifier: BSD-3-Clause
// The functions of XPMEM's library, and those of the kernel that a node may refuse.
#include "support/standin/xpmem.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <type_traits>

#include "support/standin/xpmem_arena.hpp"

namespace tutti::test::standin_xpmem {
namespace {

struct Permit {
  int file;
  bool open;
};
struct Mapped {
  std::uintptr_t begin;
  std::size_t bytes;
  std::int64_t permit;  ///< 0: none
};

constexpr std::size_t most_permits = 4096;
constexpr std::size_t most_mapped = 1U << 16U;
constexpr unsigned file_bits = 16;

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
Permit permits[most_permits];
Mapped mapped[most_mapped];
std::int64_t permit_count = 0;
Counts done{};
bool refuses = false;

class Lock {
 public:
  Lock() { pthread_mutex_lock(&mutex); }
  ~Lock() { pthread_mutex_unlock(&mutex); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
};

template <typename Result>
Result failed(int error) {
  errno = error;
  if constexpr (std::is_pointer_v<Result>)
    return reinterpret_cast<Result>(std::intptr_t{-1});  // NOLINT(performance-no-int-to-ptr)
  else
    return -1;
}

std::size_t page() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

Permit* find(std::int64_t id) {
  if (id <= 0 || id > permit_count || !permits[id - 1].open) return nullptr;
  return &permits[id - 1];
}

void unmap(Mapped& entry) {
  munmap(reinterpret_cast<void*>(entry.begin), entry.bytes);  // NOLINT(performance-no-int-to-ptr)
  entry = {};
  ++done.detaches;
}

Mapped* free_entry() {
  for (Mapped& entry : mapped)
    if (entry.permit == 0) return &entry;
  return nullptr;
}

bool kernel_refuses() { return std::getenv("TUTTI_STANDIN_NO_KERNEL_COPY") != nullptr; }

}  // namespace
}  // namespace tutti::test::standin_xpmem

using namespace tutti::test::standin_xpmem;

extern "C" {

struct xpmem_addr {
  std::int64_t apid;
  off_t offset;
};

std::int64_t xpmem_make(void* begin, std::size_t bytes, int permit_type, void* /*permit_value*/) {
  const Lock lock;
  const int file = open_arena();
  if (begin != nullptr || bytes != static_cast<std::size_t>(-1L) || permit_type != 1)
    return failed<std::int64_t>(EINVAL);
  if (file < 0) return failed<std::int64_t>(ENOENT);
  ++done.makes;
  return std::int64_t{getpid()} << file_bits | file;
}

int xpmem_remove(std::int64_t /*segment*/) {
  const Lock lock;
  ++done.removes;
  return 0;
}

std::int64_t xpmem_get(std::int64_t segment, int flags, int permit_type, void* /*permit_value*/) {
  if (segment <= 0 || flags != 2 || permit_type != 1) return failed<std::int64_t>(EINVAL);
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%lld/fd/%lld", static_cast<long long>(segment >> file_bits),
                static_cast<long long>(segment & ((1 << file_bits) - 1)));
  const Lock lock;
  if (permit_count == static_cast<std::int64_t>(most_permits)) return failed<std::int64_t>(EBUSY);
  const int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return -1;
  permits[permit_count++] = {file, true};
  ++done.gets;
  return permit_count;
}

int xpmem_release(std::int64_t id) {
  const Lock lock;
  Permit* permit = find(id);
  if (permit == nullptr) return failed<int>(EINVAL);
  for (Mapped& entry : mapped)
    if (entry.permit == id) unmap(entry);
  close(permit->file);
  permit->open = false;
  ++done.releases;
  return 0;
}

void* xpmem_attach(xpmem_addr address, std::size_t bytes, void* here) {
  const Lock lock;
  const Permit* permit = find(address.apid);
  const auto begin = static_cast<std::uintptr_t>(address.offset);
  bytes = (bytes + page() - 1) / page() * page();
  ++done.refused;
  if (permit == nullptr || here != nullptr || begin % page() != 0 || bytes == 0) return failed<void*>(EINVAL);
  if (refuses || !is_in_arena(begin) || !is_in_arena(begin + bytes - 1)) return failed<void*>(EFAULT);
  Mapped* entry = free_entry();
  if (entry == nullptr) return failed<void*>(ENOMEM);
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, permit->file,
                  static_cast<off_t>(begin - arena_begin));
  if (at == MAP_FAILED) return failed<void*>(errno);
  *entry = {reinterpret_cast<std::uintptr_t>(at), bytes, address.apid};
  --done.refused;
  ++done.attaches;
  return at;
}

int xpmem_detach(void* here) {
  const auto at = reinterpret_cast<std::uintptr_t>(here);
  const Lock lock;
  for (Mapped& entry : mapped)
    if (entry.permit != 0 && at >= entry.begin && at < entry.begin + entry.bytes) {
      unmap(entry);
      return 0;
    }
  return failed<int>(EINVAL);
}

void tutti_standin_xpmem_counts(Counts* counts) {
  const Lock lock;
  *counts = done;
  counts->stale_touches = stale_touches();
}

void tutti_standin_xpmem_refuse_attaches(int on) {
  const Lock lock;
  refuses = on != 0;
}

// As on a node whose kernel forbids copies between processes, if the variable is set.
ssize_t process_vm_readv(pid_t process, const iovec* local, unsigned long local_count, const iovec* remote,
                         unsigned long remote_count, unsigned long flags) {
  if (kernel_refuses()) return failed<int>(EPERM);
  return syscall(SYS_process_vm_readv, process, local, local_count, remote, remote_count, flags);
}

ssize_t process_vm_writev(pid_t process, const iovec* local, unsigned long local_count, const iovec* remote,
                          unsigned long remote_count, unsigned long flags) {
  if (kernel_refuses()) return failed<int>(EPERM);
  return syscall(SYS_process_vm_writev, process, local, local_count, remote, remote_count, flags);
}

}  // extern "C"
