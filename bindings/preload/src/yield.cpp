// SPDX-License-Identifier: BSD-3-Clause
// MPICH over UCX waits without giving up its core, so that with more ranks than cores each message costs time slices.
// Loaded before UCX, this stands before its function that MPICH calls in waits, and lets the other ranks run. Tests of
// the library preload this file alone.
#include "yield.hpp"

#include <dlfcn.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string_view>

namespace tutti::preload {
namespace {

constexpr int patience = 32;  // empty polls; about as long as a message from another core takes

std::atomic<std::uint64_t> yields_of_process{0};

/// Hydra, which starts MPICH's ranks, tells each how many there are on its node.
bool has_more_ranks_than_cores() {
  const char* ranks = std::getenv("MPI_LOCALNRANKS");
  return ranks != nullptr && std::atol(ranks) > sysconf(_SC_NPROCESSORS_ONLN);
}

bool is_wanted() {
  const char* value = std::getenv("TUTTI_MPI_YIELD");
  return (value == nullptr || std::string_view(value) != "0") && has_more_ranks_than_cores();
}

void wait_a_little(unsigned progressed) {
  thread_local int empty = 0;
  empty = progressed == 0 ? empty + 1 : 0;
  if (empty < patience) return;
  empty = 0;
  yields_of_process.fetch_add(1, std::memory_order_relaxed);
  sched_yield();
}

}  // namespace

std::uint64_t yields() noexcept { return yields_of_process.load(std::memory_order_relaxed); }

}  // namespace tutti::preload

extern "C" {

unsigned ucp_worker_progress(void* worker);

unsigned ucp_worker_progress(void* worker) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): a function by its name
  static const auto progress = reinterpret_cast<unsigned (*)(void*)>(dlsym(RTLD_NEXT, "ucp_worker_progress"));
  static const bool yields = tutti::preload::is_wanted();
  const unsigned progressed = progress(worker);
  if (yields) tutti::preload::wait_a_little(progressed);
  return progressed;
}

}  // extern "C"
