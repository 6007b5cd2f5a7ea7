// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "backends/nccl/table.hpp"
#include "support/standin/runtime.hpp"

namespace tutti::standin {

/// A stand-in for NCCL, for tests of the logic that uses it: records every call with its arguments, and does what NCCL
/// documents, over host memory: messages go by MPI, on a communicator of its own, as work of the stand-in streams. A
/// group is one piece of work. It holds callers to NCCL's rules: the same order of launches on all ranks, no call while
/// one is in progress, no call on an aborted communicator, no destruction while graphs live. It proves nothing about a
/// GPU.
class Nccl {
 public:
  /// version: what get_version answers; functions that came later are null in the table.
  Nccl(Runtime& runtime, int version);
  ~Nccl();
  Nccl(const Nccl&) = delete;
  Nccl& operator=(const Nccl&) = delete;

  /// Puts its table in place while it lives.
  void install();
  [[nodiscard]] const detail::nccl::Table& table() const;
  [[nodiscard]] const std::vector<std::string>& record() const;
  void clear_record();

  /// Each init, and each launch, answers ncclInProgress for that many looks first.
  void set_in_progress(int looks);
  /// The init of this process never ends, as where a peer does not come.
  void hang_init();
  /// Launched work of this process never ends, until the communicator is aborted.
  void hang_work();
  /// The next call of that name returns this result.
  void fail_next(const std::string& name, detail::nccl::Result result);
  /// What get_async_error answers from now on.
  void set_async_error(detail::nccl::Result result);
  /// Communicators made and not destroyed or aborted.
  [[nodiscard]] int live_communicators() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tutti::standin
