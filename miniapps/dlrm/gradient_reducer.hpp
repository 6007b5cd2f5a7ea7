// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <tutti/collectives/allreduce.hpp>
#include <tutti/communicator.hpp>
#include <tutti/request.hpp>
#include <vector>

namespace dlrm {

/// Sums dense gradients over the ranks while the rest of the backward pass runs. All ranks start the same reductions in
/// the same order. The gradients of one rank alone are left as they are.
class GradientReducer {
 public:
  explicit GradientReducer(const tutti::Communicator& comm) : comm_(&comm), alone_(comm.size() == 1) {}

  /// Starts the sum of a block of gradients, which must stay untouched until finish(). Collective; nonblocking.
  void start(std::span<float> gradients) {
    if (!alone_ && !gradients.empty()) {
      requests_.push_back(
          tutti::iallreduce(*comm_, tutti::Buffer(gradients), tutti::sum, {.memory = tutti::MemoryKind::host}));
    }
  }
  /// Lets messages advance; never blocks.
  void progress() {
    if (!requests_.empty()) {
      (void)requests_.front().test();
    }
  }
  /// Waits for all sums.
  void finish() {
    tutti::wait_all(requests_);
    requests_.clear();
  }

 private:
  const tutti::Communicator* comm_;
  bool alone_;
  std::vector<tutti::Request> requests_;
};

}  // namespace dlrm
