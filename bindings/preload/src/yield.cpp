// SPDX-License-Identifier: BSD-3-Clause
// MPICH over UCX waits without giving up its core, so that with more ranks than cores each message costs time slices.
// Loaded before UCX, this stands before its function that MPICH calls in waits, and lets the other ranks run. Tests of
// the library preload this file alone.
#include "yield.hpp"

#include <dlfcn.h>
#include <link.h>
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
  const char* text = std::getenv("TUTTI_MPI_YIELD");
  const std::string_view value = text == nullptr ? "1" : text;
  return !value.empty() && value != "0" && value != "off" && value != "false" && has_more_ranks_than_cores();
}

using Progress = unsigned (*)(void*);
constexpr const char* name_of_progress = "ucp_worker_progress";

/// In a UCX that a part of the MPI has loaded for itself, as Open MPI's parts and libfabric's do; ends at the first.
int find_in_ucx(dl_phdr_info* module, std::size_t /*size*/, void* found) {
  const std::string_view path = module->dlpi_name == nullptr ? "" : module->dlpi_name;
  if (path.find("libucp") == std::string_view::npos) return 0;
  void* const ucx = dlopen(module->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
  *static_cast<void**>(found) = ucx == nullptr ? nullptr : dlsym(ucx, name_of_progress);
  return *static_cast<void**>(found) == nullptr ? 0 : 1;
}

/// UCX's own function. There is one, because it is in its place that this library is called.
Progress progress_of_ucx() {
  void* found = dlsym(RTLD_NEXT, name_of_progress);
  if (found == nullptr) dl_iterate_phdr(find_in_ucx, &found);
  return reinterpret_cast<Progress>(found);  // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast)
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
  static const auto progress = tutti::preload::progress_of_ucx();
  static const bool yields = tutti::preload::is_wanted();
  const unsigned progressed = progress(worker);
  if (yields) tutti::preload::wait_a_little(progressed);
  return progressed;
}

}  // extern "C"
