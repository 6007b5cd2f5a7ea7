// SPDX-License-Identifier: BSD-3-Clause
// A library that gives any MPI the hook of MPICH 4.3 (MPIX_Async_start, MPIX_Request_is_complete), for a program that
// preloads it. It runs the polls where MPICH's progress does: in every call that waits, and in every test of what is
// not there yet. The calls are those of `progress_hook.cpp`; others make no progress.
//
// It enforces what MPICH needs: no MPI call that makes progress, and no further start, inside a poll, because MPICH
// holds a lock there (`MPI_THREAD_MULTIPLE`) or walks along its list of polls; and no poll that outlives MPI_Finalize,
// which MPICH would wait for. A program that breaks a rule is aborted with a text.
#pragma once

#include <dlfcn.h>

namespace tutti::test::standin_progress_hook {

/// What this process has done through the library.
struct Counts {
  long starts;  ///< of polls
  long polls;
  int alive;  ///< polls that have not ended
};

/// The function beside MPICH's. Null in a program that has not preloaded the library.
using Function = void (*)(Counts* counts);
inline Function function() {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, "tutti_standin_progress_hook_counts"));
}

inline bool is_loaded() { return function() != nullptr; }

inline Counts counts() {
  Counts now{};
  function()(&now);
  return now;
}

}  // namespace tutti::test::standin_progress_hook
