// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <string>

/// The place in the host MPI's progress where it calls functions of others: MPIX_Async_start of MPICH 4.3 and later,
/// and Open MPI's opal_progress_register. A function that is there runs in every MPI call of the program that waits or
/// tests, on the thread that makes the call.
namespace tutti::detail::progress_hook {

/// Whether the host MPI has such a place.
struct Finding {
  bool is_usable = false;
  std::string text{};  ///< the name of the MPI's function, or the reason why there is none
};

/// Looks once; after MPI_Init, whose level of threads counts.
[[nodiscard]] const Finding& find();

/// A function that takes a step of all operations that go on inside the MPI's calls. It may post messages and must
/// neither block nor call an MPI function that makes progress: MPICH must not be entered twice.
using Step = void (*)() noexcept;

/// One more operation that goes on inside the MPI's calls: the MPI calls `step`, always the same one, as long as there
/// is any. Any thread that may call MPI.
void add(Step step) noexcept;
/// So many operations fewer.
void remove(int operations) noexcept;
/// Before the MPI ends: it calls no step any more.
void end() noexcept;
/// Whether the MPI calls this library, if only to find that there is nothing to do. For tests.
[[nodiscard]] bool is_armed() noexcept;

/// What this thread is doing.
struct Here {
  int pauses = 0;
  bool is_inside = false;
};
extern thread_local constinit Here here;

/// Whether this thread is inside a step that the MPI has called.
[[nodiscard]] inline bool is_inside() noexcept { return here.is_inside; }

/// While it lives, MPI calls of this thread make no step: its owner holds what a step needs, or takes steps itself.
class Pause {
 public:
  Pause() noexcept { ++here.pauses; }
  ~Pause() { --here.pauses; }
  Pause(const Pause&) = delete;
  Pause& operator=(const Pause&) = delete;
};

/// Gives the MPI a chance to progress, which a rank inside it may need from this one, by a look for messages; nothing
/// inside a step.
void look_into_mpi(MPI_Comm comm);

/// MPI_Test. Inside a step it only looks whether the request is complete, if the MPI can tell that without progress.
[[nodiscard]] int test(MPI_Request& request, int& done, MPI_Status* status) noexcept;

}  // namespace tutti::detail::progress_hook
