// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <tutti/collectives/allreduce.hpp>
#include <tutti/communicator.hpp>
#include <tutti/request.hpp>

#include "agree.hpp"

namespace dlrm {

/// Agreement on whether a batch is good on all ranks, a few bytes that travel while rows are looked up. Nothing else of
/// the batch is exchanged before finish().
class StepAgreement {
 public:
  explicit StepAgreement(const tutti::Communicator& comm) : comm_(&comm) {}

  /// `error`: what is wrong on this rank; empty when nothing is. Collective; nonblocking.
  void start(std::string error) {
    error_ = std::move(error);
    bad_ = error_.empty() ? 0 : 1;
    if (comm_->size() > 1) {
      request_ = tutti::iallreduce(*comm_, &bad_, 1, tutti::max, {.memory = tutti::MemoryKind::host});
    }
  }
  [[nodiscard]] bool bad_here() const { return !error_.empty(); }
  /// Throws on all ranks when the batch is bad on any. Collective.
  void finish() {
    request_.wait();
    if (bad_ != 0) {
      agree(*comm_, error_);
    }
  }

 private:
  const tutti::Communicator* comm_;
  tutti::Request request_;
  std::string error_;
  std::int32_t bad_ = 0;
};

}  // namespace dlrm
