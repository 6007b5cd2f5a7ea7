// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

#include <cstdlib>

#include "gpu/machine.hpp"
#include "support/standin/commbench.hpp"
#include "support/standin/nccl.hpp"
#include "support/standin/runtime.hpp"

namespace tutti::test::gpu {

const std::string& why_not() {
  static const std::string nothing = [] {
    constexpr int version = 22809;
    auto* runtime = new standin::Runtime();  // both outlive what MPI_Finalize frees
    runtime->install();
    if (std::getenv("TUTTI_TEST_ONE_GPU") == nullptr) {
      int rank = 0;
      MPI_Comm_rank(MPI_COMM_WORLD, &rank);
      runtime->set_uuid(0, {static_cast<unsigned char>(rank + 1)});
    }
    auto* nccl = new standin::Nccl(*runtime, version);
    nccl->install();
    standin::install_for_commbench(*nccl);
    return std::string{};
  }();
  return nothing;
}

bool is_standin() { return true; }

}  // namespace tutti::test::gpu
