// SPDX-License-Identifier: BSD-3-Clause
// The functions of libc and libstdc++ by which ranks wait, sleep and read the clock. The linker (--wrap) gives their
// calls to the functions here, which are the places where another rank may go on.
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdarg>
#include <cstdint>

#include "simulation/accesses.hpp"
#include "simulation/caches.hpp"
#include "simulation/scheduler.hpp"
#include "simulation/shared_memory.hpp"

using tutti::simulation::Access;
using tutti::simulation::Caches;
using tutti::simulation::Scheduler;
using tutti::simulation::SharedMemory;
using tutti::simulation::Touch;
using tutti::simulation::WeakMemory;
using tutti::simulation::Word;

namespace {

using Time = Scheduler::Time;
using Clock = std::chrono::steady_clock;

Time time_of(const timespec& length) { return std::chrono::seconds(length.tv_sec) + Time(length.tv_nsec); }

/// The kernel orders a waker and a sleeper by fences around their looks at one another, and nothing else: without a
/// waker that has come before, it may find an old value.
std::uint32_t load_in_kernel(const Word& word, const std::uint32_t* address) {
  const std::uint32_t newest = __atomic_load_n(address, __ATOMIC_SEQ_CST);
  WeakMemory* memory = WeakMemory::current();
  if (memory == nullptr) return newest;
  memory->fence(std::memory_order_seq_cst);
  const Touch touch{word, sizeof newest, Access::atomic_read, 0};
  return static_cast<std::uint32_t>(memory->load(touch, newest, std::memory_order_relaxed, false));
}

long futex(Scheduler& scheduler, const std::uint32_t* address, int operation, std::uint32_t value,
           const timespec* longest) {
  const Word word = SharedMemory::current()->find(scheduler.rank(), address);
  if (operation == FUTEX_WAKE) {
    if (WeakMemory* memory = WeakMemory::current()) memory->fence(std::memory_order_seq_cst);
    scheduler.wake(word);
    return 0;
  }
  // Between the rank's last look and its sleep.
  scheduler.stop();
  if (load_in_kernel(word, address) != value) {
    errno = EAGAIN;
    return -1;
  }
  if (scheduler.sleep(word, time_of(*longest))) return 0;
  errno = ETIMEDOUT;
  return -1;
}

}  // namespace

extern "C" {

int __real_sched_yield();
int __real_nanosleep(const timespec* length, timespec* rest);
int __real_usleep(useconds_t length);
long __real_syscall(long number, ...);
bool __real__ZN5tutti6detail3shm7Segment8has_roomEm(std::size_t bytes);
Clock::time_point __real__ZNSt6chrono3_V212steady_clock3nowEv();

int __wrap_sched_yield() {
  Scheduler* scheduler = Scheduler::here();
  if (scheduler == nullptr) return __real_sched_yield();
  if (Caches* caches = Caches::current()) caches->yield();
  scheduler->wait();
  return 0;
}

int __wrap_nanosleep(const timespec* length, timespec* rest) {
  Scheduler* scheduler = Scheduler::here();
  if (scheduler == nullptr) return __real_nanosleep(length, rest);
  scheduler->nap(time_of(*length));
  return 0;
}

int __wrap_usleep(useconds_t length) {
  Scheduler* scheduler = Scheduler::here();
  if (scheduler == nullptr) return __real_usleep(length);
  scheduler->nap(std::chrono::microseconds(length));
  return 0;
}

long __wrap_syscall(long number, ...) {
  va_list arguments;
  va_start(arguments, number);
  long all[6];
  for (long& argument : all) argument = va_arg(arguments, long);
  va_end(arguments);
  Scheduler* scheduler = Scheduler::here();
  if (scheduler == nullptr || number != SYS_futex)
    return __real_syscall(number, all[0], all[1], all[2], all[3], all[4], all[5]);
  return futex(*scheduler, reinterpret_cast<const std::uint32_t*>(all[0]), static_cast<int>(all[1]),
               static_cast<std::uint32_t>(all[2]), reinterpret_cast<const timespec*>(all[3]));
}

/// Of much room there may be too little, for one rank and not for another: for a ring that calls do without.
bool __wrap__ZN5tutti6detail3shm7Segment8has_roomEm(std::size_t bytes) {
  constexpr std::size_t much = std::size_t{16} << 20U;
  Scheduler* scheduler = Scheduler::here();
  if (scheduler != nullptr && bytes > much && scheduler->random().once_in(2)) return false;
  return __real__ZN5tutti6detail3shm7Segment8has_roomEm(bytes);
}

Clock::time_point __wrap__ZNSt6chrono3_V212steady_clock3nowEv() {
  Scheduler* scheduler = Scheduler::here();
  return scheduler == nullptr ? __real__ZNSt6chrono3_V212steady_clock3nowEv() : Clock::time_point(scheduler->now());
}

}  // extern "C"
