// SPDX-License-Identifier: BSD-3-Clause
// The functions of libc, the kernel and src/kernels by which ranks copy and combine. The linker (--wrap) gives their
// calls to the functions here: another rank may go on before a copy, and the model of weak memory sees what is read and
// written.
#include <sys/uio.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tutti/datatype.hpp>
#include <tutti/reduce_op.hpp>

#include "simulation/accesses.hpp"
#include "simulation/scheduler.hpp"
#include "simulation/shared_memory.hpp"
#include "simulation/streams.hpp"

using namespace tutti::simulation;
using Inputs = std::span<const void* const>;

namespace {

/// A rank may be stopped before a copy between shared memory and its own.
void stop_at_copy(const void* to, const void* from) {
  Scheduler* scheduler = Scheduler::here();
  const SharedMemory* shared = SharedMemory::current();
  if (scheduler == nullptr || shared == nullptr) return;
  const bool writes = shared->has(scheduler->rank(), to);
  if (!writes && !shared->has(scheduler->rank(), from)) return;
  if (writes) scheduler->tell();
  scheduler->stop(scheduler->manner().copy_stops);
}

using Transfer = ssize_t (*)(pid_t, const iovec*, unsigned long, const iovec*, unsigned long, unsigned long);

std::uint64_t word_at(const void* address) {
  std::uint64_t word = 0;
  __builtin_memcpy(&word, address, sizeof word);
  return word;
}

/// The kernel may refuse all copies, and stop short of their end.
ssize_t transfer_part(Transfer transfer, pid_t process, const iovec* mine, const iovec* theirs, bool writes,
                      Site site) {
  Scheduler* scheduler = Scheduler::here();
  if (scheduler == nullptr) return transfer(process, mine, 1, theirs, 1, 0);
  if (!SharedMemory::current()->has_kernel_copies()) {
    errno = EPERM;
    return -1;
  }
  scheduler->stop();
  iovec here = *mine;
  iovec there = *theirs;
  if (here.iov_len > 64 && scheduler->random().once_in(4))
    here.iov_len = there.iov_len = 1 + scheduler->random().below(here.iov_len);
  scheduler->tell();
  // In the trial of copies, several ranks write over a word what it holds.
  const bool is_trial = here.iov_len == sizeof(std::uint64_t) && word_at(here.iov_base) == word_at(there.iov_base);
  if (writes && !is_trial)
    touch_copy(there.iov_base, here.iov_base, here.iov_len, site);
  else if (!writes)
    touch_copy(here.iov_base, there.iov_base, here.iov_len, site);
  return transfer(process, &here, 1, &there, 1, 0);
}

void touch_combination(tutti::Datatype type, Inputs inputs, void* output, std::size_t count, Site site) {
  const std::size_t bytes = count * type.size();
  for (const void* input : inputs) touch_any(input, bytes, Access::read, site);
  touch_any(output, bytes, Access::write, site);
}

}  // namespace

extern "C" {

void* __real_memcpy(void* to, const void* from, std::size_t bytes);
void* __real_memmove(void* to, const void* from, std::size_t bytes);
void* __real_memset(void* to, int value, std::size_t bytes);
int __real_memcmp(const void* a, const void* b, std::size_t bytes);
ssize_t __real_process_vm_readv(pid_t, const iovec*, unsigned long, const iovec*, unsigned long, unsigned long);
ssize_t __real_process_vm_writev(pid_t, const iovec*, unsigned long, const iovec*, unsigned long, unsigned long);
void __real__ZN5tutti7kernels11stream_copyEPvPKvm(void* to, const void* from, std::size_t bytes);
bool __real__ZN5tutti7kernels19exceeds_core_cachesEm(std::size_t bytes);
void __real__ZN5tutti7kernels7combineENS_8DatatypeERKNS_8ReduceOpESt4spanIKPKvLm18446744073709551615EEPvm(
    tutti::Datatype type, const tutti::ReduceOp& op, Inputs inputs, void* output, std::size_t count);
void __real__ZN5tutti7kernels11combine_avgENS_8DatatypeESt4spanIKPKvLm18446744073709551615EEPvmm(
    tutti::Datatype type, Inputs inputs, void* output, std::size_t count, std::size_t divisor);
void __real__ZN5tutti7kernels15combine_exactlyENS_8DatatypeESt4spanIKPKvLm18446744073709551615EEPvmm(
    tutti::Datatype type, Inputs inputs, void* output, std::size_t count, std::size_t divisor);

void* __wrap_memcpy(void* to, const void* from, std::size_t bytes) {
  stop_at_copy(to, from);
  touch_copy(to, from, bytes, TUTTI_SITE);
  return __real_memcpy(to, from, bytes);
}
void* __wrap_memmove(void* to, const void* from, std::size_t bytes) {
  touch_copy(to, from, bytes, TUTTI_SITE);
  return __real_memmove(to, from, bytes);
}
void* __wrap_memset(void* to, int value, std::size_t bytes) {
  touch_any(to, bytes, Access::write, TUTTI_SITE);
  return __real_memset(to, value, bytes);
}
int __wrap_memcmp(const void* a, const void* b, std::size_t bytes) {
  touch_any(a, bytes, Access::read, TUTTI_SITE);
  touch_any(b, bytes, Access::read, TUTTI_SITE);
  return __real_memcmp(a, b, bytes);
}

ssize_t __wrap_process_vm_readv(pid_t process, const iovec* mine, unsigned long /*mine_count*/, const iovec* theirs,
                                unsigned long /*their_count*/, unsigned long /*flags*/) {
  return transfer_part(__real_process_vm_readv, process, mine, theirs, false, TUTTI_SITE);
}

ssize_t __wrap_process_vm_writev(pid_t process, const iovec* mine, unsigned long /*mine_count*/, const iovec* theirs,
                                 unsigned long /*their_count*/, unsigned long /*flags*/) {
  return transfer_part(__real_process_vm_writev, process, mine, theirs, true, TUTTI_SITE);
}

// Copies are played by memcpy alone, whatever the processor.
std::size_t __wrap__ZN5tutti7kernels13slow_distanceEv() { return 0; }

void __wrap__ZN5tutti7kernels11stream_copyEPvPKvm(void* to, const void* from, std::size_t bytes) {
  stop_at_copy(to, from);
  if (WeakMemory::current() != nullptr)
    tutti::simulated_kernels::stream_copy(to, from, bytes);
  else
    __real__ZN5tutti7kernels11stream_copyEPvPKvm(to, from, bytes);
}
bool __wrap__ZN5tutti7kernels19exceeds_core_cachesEm(std::size_t bytes) {
  if (WeakMemory::current() != nullptr) return bytes > tutti::simulated_kernels::core_caches;
  return __real__ZN5tutti7kernels19exceeds_core_cachesEm(bytes);
}

void __wrap__ZN5tutti7kernels7combineENS_8DatatypeERKNS_8ReduceOpESt4spanIKPKvLm18446744073709551615EEPvm(
    tutti::Datatype type, const tutti::ReduceOp& op, Inputs inputs, void* output, std::size_t count) {
  touch_combination(type, inputs, output, count, TUTTI_SITE);
  __real__ZN5tutti7kernels7combineENS_8DatatypeERKNS_8ReduceOpESt4spanIKPKvLm18446744073709551615EEPvm(type, op, inputs,
                                                                                                       output, count);
}
void __wrap__ZN5tutti7kernels11combine_avgENS_8DatatypeESt4spanIKPKvLm18446744073709551615EEPvmm(
    tutti::Datatype type, Inputs inputs, void* output, std::size_t count, std::size_t divisor) {
  touch_combination(type, inputs, output, count, TUTTI_SITE);
  __real__ZN5tutti7kernels11combine_avgENS_8DatatypeESt4spanIKPKvLm18446744073709551615EEPvmm(type, inputs, output,
                                                                                              count, divisor);
}
void __wrap__ZN5tutti7kernels15combine_exactlyENS_8DatatypeESt4spanIKPKvLm18446744073709551615EEPvmm(
    tutti::Datatype type, Inputs inputs, void* output, std::size_t count, std::size_t divisor) {
  touch_combination(type, inputs, output, count, TUTTI_SITE);
  __real__ZN5tutti7kernels15combine_exactlyENS_8DatatypeESt4spanIKPKvLm18446744073709551615EEPvmm(type, inputs, output,
                                                                                                  count, divisor);
}

}  // extern "C"
