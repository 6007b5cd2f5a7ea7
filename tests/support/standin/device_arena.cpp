// SPDX-License-Identifier: BSD-3-Clause
#include "support/standin/device_arena.hpp"

#include <execinfo.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <thread>
#include <utility>

#include "kernels/parallel.hpp"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, bytes) static_cast<void>(address)
#define ASAN_UNPOISON_MEMORY_REGION(address, bytes) static_cast<void>(address)
#endif

namespace tutti::standin {
namespace {

constexpr std::size_t page = 4096;

thread_local int work_depth = 0;
thread_local bool is_helper = false;
struct sigaction former_action {};

std::size_t pages_of(std::size_t bytes) { return (bytes + page - 1) / page * page; }

void say_where() {
  constexpr int most_frames = 48;
  std::array<void*, most_frames> frames{};
  constexpr const char text[] = "stand-in of CUDA: the host touched device memory here:\n";
  (void)!write(STDERR_FILENO, text, sizeof text - 1);
  backtrace_symbols_fd(frames.data(), backtrace(frames.data(), most_frames), STDERR_FILENO);
}

}  // namespace

DeviceArena& DeviceArena::instance() {
  static auto* only = new DeviceArena;
  return *only;
}

DeviceArena::DeviceArena() {
  void* at = mmap(nullptr, parts * part_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) std::abort();
  base_ = static_cast<std::byte*>(at);
  free_[0] = parts * part_bytes;
  std::array<void*, 1> first{};
  (void)backtrace(first.data(), 1);  // loads what it needs, which a handler of signals may not
  install();
}

void DeviceArena::on_fault(int signal, void* info, void* /*context*/) {
  const void* address = static_cast<siginfo_t*>(info)->si_addr;
  DeviceArena& arena = instance();
  if (arena.holds(address) && arena.open_for(address)) return;
  struct sigaction next = former_action;
  if (arena.holds(address)) {
    say_where();
    next = {};  // the process ends, without other handlers
  }
  sigaction(signal, &next, nullptr);  // the touch comes again
}

void DeviceArena::install() noexcept {
  struct sigaction action {};
  action.sa_sigaction = [](int signal, siginfo_t* info, void* context) { on_fault(signal, info, context); };
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGSEGV, &action, &former_action);
}

bool DeviceArena::holds(const void* address) const noexcept {
  const auto* at = static_cast<const std::byte*>(address);
  return at >= base_ && at < base_ + parts * part_bytes;
}

bool DeviceArena::open_for(const void* address) noexcept {
  const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(address) - base_);
  const bool works = work_depth > 0 || (is_helper && working_.load() > 0);
  if (!works || offset >= end_.load()) return false;
  set_access(offset / part_bytes, 1, true);
  return true;
}

/// Threads that open and close a part at once leave it closed, or open and marked so.
void DeviceArena::set_access(std::size_t part, std::size_t count, bool is_open) noexcept {
  const auto mark = [&] {
    for (std::size_t i = part; i < part + count; ++i) is_open_[i].store(is_open);
  };
  if (!is_open) mark();
  mprotect(base_ + part * part_bytes, count * part_bytes, is_open ? PROT_READ | PROT_WRITE : PROT_NONE);
  if (!is_open) return;
  mark();
  has_open_.store(true);
}

void DeviceArena::close() noexcept {
  if (is_kept_open_.load() || !has_open_.exchange(false)) return;
  const std::size_t used = (end_.load() + part_bytes - 1) / part_bytes;
  for (std::size_t part = 0; part < used; ++part) {
    std::size_t end = part;
    while (end < used && is_open_[end].load()) ++end;
    if (end > part) set_access(part, end - part, false);
    part = end;
  }
}

void DeviceArena::keep_open(bool is_kept) noexcept {
  is_kept_open_.store(is_kept);
  set_access(0, parts, is_kept);
}

void DeviceArena::find_helpers() {
  thread_local bool are_found = false;
  if (std::exchange(are_found, true)) return;
  const auto here = std::this_thread::get_id();
  const std::size_t threads = kernels::partition_count(0);
  kernels::for_each_partition(threads, [here](std::size_t) { is_helper = std::this_thread::get_id() != here; });
}

DeviceArena::Work::Work() noexcept {
  ++work_depth;
  ++instance().working_;
}

DeviceArena::Work::~Work() {
  DeviceArena& arena = instance();
  --work_depth;
  // Another thread that works meanwhile opens it again.
  if (--arena.working_ == 0) arena.close();
}

void DeviceArena::fill(void* address, int value, std::size_t bytes) noexcept {
  const Work work;
  if (holds(address)) {
    const auto begin = static_cast<std::size_t>(static_cast<std::byte*>(address) - base_);
    const std::size_t part = begin / part_bytes;
    set_access(part, (begin + bytes + part_bytes - 1) / part_bytes - part, true);
  }
  std::memset(address, value, bytes);
}

void* DeviceArena::allocate(std::size_t bytes) {
  const std::size_t size = pages_of(bytes == 0 ? 1 : bytes);
  std::byte* address = nullptr;
  {
    const std::lock_guard lock(mutex_);
    auto room = free_.begin();
    while (room != free_.end() && room->second < size) ++room;
    if (room == free_.end()) return nullptr;
    const auto [offset, left] = *room;
    free_.erase(room);
    if (left > size) free_[offset + size] = left - size;
    pieces_[offset] = size;
    if (end_.load() < offset + size) end_.store(offset + size);
    address = base_ + offset;
  }
  ASAN_UNPOISON_MEMORY_REGION(address, bytes);
  fill(address, 0xff, bytes);
  ASAN_POISON_MEMORY_REGION(address + bytes, size - bytes);
  return address;
}

void DeviceArena::release(void* address) noexcept {
  const auto offset = static_cast<std::size_t>(static_cast<std::byte*>(address) - base_);
  const std::lock_guard lock(mutex_);
  const auto piece = pieces_.find(offset);
  if (piece == pieces_.end()) std::abort();
  std::size_t size = piece->second;
  pieces_.erase(piece);
  ASAN_UNPOISON_MEMORY_REGION(address, size);
  fill(address, 0xdd, size);
  ASAN_POISON_MEMORY_REGION(address, size);
  auto next = free_.lower_bound(offset);
  if (next != free_.end() && next->first == offset + size) {
    size += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == offset) {
      before->second += size;
      return;
    }
  }
  free_[offset] = size;
}

}  // namespace tutti::standin
