// SPDX-License-Identifier: BSD-3-Clause
#include "gpu/machine.hpp"
#include "support/standin/nccl.hpp"
#include "support/standin/runtime.hpp"

namespace tutti::test::gpu {

const std::string& why_not() {
  static const std::string nothing = [] {
    constexpr int version = 22809;
    auto* runtime = new standin::Runtime();  // both outlive what MPI_Finalize frees
    runtime->install();
    (new standin::Nccl(*runtime, version))->install();
    return std::string{};
  }();
  return nothing;
}

bool is_standin() { return true; }

}  // namespace tutti::test::gpu
