// SPDX-License-Identifier: BSD-3-Clause
// One rank is inside the host MPI until the others have finished a call that it has started.
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>

#include <array>
#include <functional>
#include <string>
#include <thread>

#include "call/context.hpp"
#include "core/host_mpi.hpp"
#include "core/progress_hook.hpp"
#include "mpi/shm/work.hpp"
#include "support/exercise.hpp"

namespace tutti::test {

inline const Communicator& world() { return communicators().front(); }

/// Tests whose subject is what the hook makes possible.
class WithHook : public ::testing::Test {
 protected:
  void SetUp() override {
    if (world().size() < 2) GTEST_SKIP() << "needs 2 ranks";
    if (!world().state()->progress_hook) GTEST_SKIP() << "no hook: " << world().state()->progress_report;
  }
};

/// What rank 0 does there.
enum class Place { recv, wait, probe, iprobe, ssend, barrier };
inline constexpr std::array places = {Place::recv,   Place::wait,  Place::probe,
                                      Place::iprobe, Place::ssend, Place::barrier};

constexpr int away_tag = 9;

inline void be_away(Place place) {
  int token = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  switch (place) {
    case Place::wait:
      MPI_Irecv(&token, 1, MPI_INT, 1, away_tag, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      return;
    case Place::iprobe:
      for (int found = 0; found == 0; std::this_thread::yield())
        MPI_Iprobe(1, away_tag, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
      break;
    case Place::probe:
      MPI_Probe(1, away_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      break;
    case Place::ssend:
      MPI_Ssend(&token, 1, MPI_INT, 1, away_tag, MPI_COMM_WORLD);
      return;
    case Place::barrier:
      MPI_Barrier(MPI_COMM_WORLD);
      return;
    case Place::recv:
      break;
  }
  MPI_Recv(&token, 1, MPI_INT, 1, away_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/// What the others do once they have finished.
inline void call_back(Place place) {
  int token = 0;
  if (place == Place::barrier)
    MPI_Barrier(MPI_COMM_WORLD);
  else if (world().rank() == 1 && place == Place::ssend)
    MPI_Recv(&token, 1, MPI_INT, 0, away_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  else if (world().rank() == 1)
    MPI_Send(&token, 1, MPI_INT, 0, away_tag, MPI_COMM_WORLD);
}

/// Ends calls that all ranks have started: rank 0 is away until the others have done so.
inline void finish_without_rank_0(Place place, const std::function<void()>& finish) {
  if (world().rank() == 0) be_away(place);
  finish();
  if (world().rank() != 0) call_back(place);
}

}  // namespace tutti::test
