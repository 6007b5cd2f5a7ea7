// SPDX-License-Identifier: BSD-3-Clause
// The functions of libc and libstdc++ by which ranks wait, sleep, copy and read the clock. The linker (--wrap) gives
// their calls to the functions here, which are the places where another rank may go on.
#include <linux/futex.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdarg>
#include <cstdint>

#include "simulation/run.hpp"
#include "simulation/scheduler.hpp"
#include "simulation/shared_memory.hpp"

using tutti::simulation::Run;
using tutti::simulation::Scheduler;
using tutti::simulation::SharedMemory;
using tutti::simulation::Word;

namespace {

using Time = Scheduler::Time;
using Clock = std::chrono::steady_clock;

Time time_of(const timespec& length) { return std::chrono::seconds(length.tv_sec) + Time(length.tv_nsec); }

/// A rank may be stopped before a copy between shared memory and its own.
void stop_at_copy(const void* to, const void* from) {
  Scheduler* scheduler = Scheduler::here();
  const SharedMemory* shared = SharedMemory::current();
  if (scheduler == nullptr || shared == nullptr) return;
  const bool writes = shared->has(scheduler->rank(), to);
  if (!writes && !shared->has(scheduler->rank(), from)) return;
  if (writes) scheduler->tell();
  scheduler->stop(Run::current().manner().copy_stops);
}

long futex(Scheduler& scheduler, const std::uint32_t* address, int operation, std::uint32_t value,
           const timespec* longest) {
  const Word word = SharedMemory::current()->find(scheduler.rank(), address);
  if (operation == FUTEX_WAKE) {
    scheduler.wake(word);
    return 0;
  }
  // Between the rank's last look and its sleep.
  scheduler.stop();
  if (__atomic_load_n(address, __ATOMIC_SEQ_CST) != value) {
    errno = EAGAIN;
    return -1;
  }
  if (scheduler.sleep(word, time_of(*longest))) return 0;
  errno = ETIMEDOUT;
  return -1;
}

using Transfer = ssize_t (*)(pid_t, const iovec*, unsigned long, const iovec*, unsigned long, unsigned long);

/// The kernel may refuse all copies, and stop short of their end.
ssize_t transfer_part(Transfer transfer, pid_t process, const iovec* mine, const iovec* theirs) {
  Scheduler* scheduler = Scheduler::here();
  if (scheduler == nullptr) return transfer(process, mine, 1, theirs, 1, 0);
  if (!Run::current().machine().kernel_copies) {
    errno = EPERM;
    return -1;
  }
  scheduler->stop();
  iovec here = *mine;
  iovec there = *theirs;
  if (here.iov_len > 64 && scheduler->random().once_in(4))
    here.iov_len = there.iov_len = 1 + scheduler->random().below(here.iov_len);
  scheduler->tell();
  return transfer(process, &here, 1, &there, 1, 0);
}

}  // namespace

extern "C" {

int __real_sched_yield();
int __real_nanosleep(const timespec* length, timespec* rest);
int __real_usleep(useconds_t length);
long __real_syscall(long number, ...);
void* __real_memcpy(void* to, const void* from, std::size_t bytes);
void __real__ZN5tutti7kernels11stream_copyEPvPKvm(void* to, const void* from, std::size_t bytes);
bool __real__ZN5tutti6detail3shm7Segment8has_roomEm(std::size_t bytes);
ssize_t __real_process_vm_readv(pid_t, const iovec*, unsigned long, const iovec*, unsigned long, unsigned long);
ssize_t __real_process_vm_writev(pid_t, const iovec*, unsigned long, const iovec*, unsigned long, unsigned long);
Clock::time_point __real__ZNSt6chrono3_V212steady_clock3nowEv();

int __wrap_sched_yield() {
  Scheduler* scheduler = Scheduler::here();
  if (scheduler == nullptr) return __real_sched_yield();
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

void* __wrap_memcpy(void* to, const void* from, std::size_t bytes) {
  stop_at_copy(to, from);
  return __real_memcpy(to, from, bytes);
}

void __wrap__ZN5tutti7kernels11stream_copyEPvPKvm(void* to, const void* from, std::size_t bytes) {
  stop_at_copy(to, from);
  __real__ZN5tutti7kernels11stream_copyEPvPKvm(to, from, bytes);
}

/// Of much room there may be too little, for one rank and not for another: for a ring that calls do without.
bool __wrap__ZN5tutti6detail3shm7Segment8has_roomEm(std::size_t bytes) {
  constexpr std::size_t much = std::size_t{16} << 20U;
  Scheduler* scheduler = Scheduler::here();
  if (scheduler != nullptr && bytes > much && scheduler->random().once_in(2)) return false;
  return __real__ZN5tutti6detail3shm7Segment8has_roomEm(bytes);
}

ssize_t __wrap_process_vm_readv(pid_t process, const iovec* mine, unsigned long /*mine_count*/, const iovec* theirs,
                                unsigned long /*their_count*/, unsigned long /*flags*/) {
  return transfer_part(__real_process_vm_readv, process, mine, theirs);
}

ssize_t __wrap_process_vm_writev(pid_t process, const iovec* mine, unsigned long /*mine_count*/, const iovec* theirs,
                                 unsigned long /*their_count*/, unsigned long /*flags*/) {
  return transfer_part(__real_process_vm_writev, process, mine, theirs);
}

Clock::time_point __wrap__ZNSt6chrono3_V212steady_clock3nowEv() {
  Scheduler* scheduler = Scheduler::here();
  return scheduler == nullptr ? __real__ZNSt6chrono3_V212steady_clock3nowEv() : Clock::time_point(scheduler->now());
}

}  // extern "C"
