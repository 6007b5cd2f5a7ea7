// SPDX-License-Identifier: BSD-3-Clause
// MPICH over UCX waits without giving up its core, so that with more ranks than cores each message costs a time slice.
// Loaded before UCX, this takes the place of its function that MPICH calls in waits, and lets the other ranks run.
#include <dlfcn.h>
#include <sched.h>
#include <unistd.h>

#include <cstdlib>

namespace {

constexpr int patience = 32;  // empty polls; no more than a wait on another core takes

bool has_more_ranks_than_cores() {
  const char* ranks = std::getenv("PMI_SIZE");
  return ranks != nullptr && std::atol(ranks) > sysconf(_SC_NPROCESSORS_ONLN);
}

}  // namespace

extern "C" unsigned ucp_worker_progress(void* worker);

extern "C" __attribute__((visibility("default"))) unsigned ucp_worker_progress(void* worker) {
  static const auto progress = reinterpret_cast<unsigned (*)(void*)>(dlsym(RTLD_NEXT, "ucp_worker_progress"));
  static const bool yields = has_more_ranks_than_cores();
  thread_local int empty = 0;
  const unsigned progressed = progress(worker);
  if (progressed != 0) {
    empty = 0;
  } else if (yields && ++empty >= patience) {
    empty = 0;
    sched_yield();
  }
  return progressed;
}
