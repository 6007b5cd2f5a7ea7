// SPDX-License-Identifier: BSD-3-Clause

#include <mpi.h>

#include <cstdio>

#include <algorithm>
#include <mutex>
#include <vector>

#include "call/context.hpp"
#include "call/outstanding.hpp"
#include "call/peers.hpp"
#include "call/progress.hpp"
#include "call/summary.hpp"
#include "core/mpi_call.hpp"
#include "diagnosis/recorder.hpp"
#include "diagnosis/trace/world.hpp"
#include "diagnosis/watchdog.hpp"
#include "outofband/endpoint.hpp"

namespace tutti::detail {
namespace {

struct Live {
  std::mutex mutex;
  std::vector<Context*> states;
  int keyval = MPI_KEYVAL_INVALID;
};

// Never destroyed, because communicators of static objects may end after the statics of this file.
Live& live() {
  static auto* instance = new Live;
  return *instance;
}

/// Every rank counts; the first one speaks.
void print_summary() {
  const Summary* summary = Summary::if_wanted();
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (summary == nullptr || rank != 0) return;
  const std::string text = summary->text();
  if (text.empty()) return;
  std::fputs(
      ("tutti: calls of rank 0 of MPI_COMM_WORLD; seconds in blocking calls and in starts, not in waits\n" + text)
          .c_str(),
      stderr);
}

int at_finalize(MPI_Comm /*comm*/, int /*keyval*/, void* /*value*/, void* /*extra*/) {
  flight::stop_watchdog();
  outofband::Endpoint::instance().leave();
  ProgressEngine::instance().stop_thread();
  report_lost_requests();
  ProgressEngine::instance().cancel_all();
  Live& all = live();
  const std::lock_guard lock(all.mutex);
  for (const Context* state : all.states) report_lost_communicator(*state);
  for (Context* state : all.states) state->release();
  all.states.clear();
  print_summary();
  trace::leave(!Peers::any_has_ended());
  if (flight::Recorder* recorder = flight::Recorder::instance(); recorder != nullptr) recorder->finish();
  return MPI_SUCCESS;
}

}  // namespace

void register_context(Context* state) {
  if (state->session) return;  // MPI_Finalize does not end it
  Live& all = live();
  const std::lock_guard lock(all.mutex);
  if (all.keyval == MPI_KEYVAL_INVALID) {
    check_mpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_finalize, &all.keyval, nullptr),
              "MPI_Comm_create_keyval");
    check_mpi(MPI_Comm_set_attr(MPI_COMM_SELF, all.keyval, nullptr), "MPI_Comm_set_attr");
  }
  all.states.push_back(state);
}

void unregister_context(Context* state) noexcept {
  Live& all = live();
  const std::lock_guard lock(all.mutex);
  std::erase(all.states, state);
}

}  // namespace tutti::detail
