// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

#include <cstdlib>
#include <tutti/error.hpp>

#include "gpu/machine.hpp"

namespace tutti::test::gpu {
namespace {

/// NCCL refuses several ranks on one GPU, unless they seem to be on different hosts.
void seem_to_be_on_hosts_of_their_own() {
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks == 1 || std::getenv("TUTTI_TEST_HOSTIDS") == nullptr) return;
  ::setenv("NCCL_HOSTID", ("tutti-test-" + std::to_string(rank)).c_str(), 0);
}

std::string prepare() {
  seem_to_be_on_hosts_of_their_own();
  detail::device::Runtime* runtime = detail::device::runtime();
  if (runtime == nullptr) return "this build has no CUDA (TUTTI_ENABLE_CUDA)";
  try {
    if (runtime->device_count() == 0) return "no GPU was found";
    runtime->set_current_device(0);
    runtime->release(MemoryKind::device, runtime->allocate(MemoryKind::device, 1));
    return {};
  } catch (const Error& error) {
    return std::string("the GPU cannot be used: ") + error.what();
  }
}

}  // namespace

const std::string& why_not() {
  static const std::string answer = prepare();
  return answer;
}

bool is_standin() { return false; }

}  // namespace tutti::test::gpu
