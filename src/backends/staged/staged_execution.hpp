// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "call/execution.hpp"
#include "call/plan.hpp"
#include "device/flag.hpp"
#include "device/pool.hpp"
#include "operation/binding.hpp"

namespace tutti::detail {

/// Runs an operation on device memory through the host: copies pieces to pinned memory, runs a host execution of any
/// backend on them (shared memory if the ranks share a node), and copies the results back. Each step is in stream
/// order, and the copies of one piece overlap the communication of another. The number of pieces follows from the
/// signature alone. The two directions have a stream each. A blocking call with a stream returns once the communication
/// is done and the copies back are on the stream; with the progress thread it returns at once: all copies are enqueued
/// in the call, and those that wait for communication wait for a flag. Without a stream it returns when all is done.
class StagedExecution final : public Execution {
 public:
  /// Makes the host executions of all pieces, and takes their tags or sequence numbers in shared memory in the order of
  /// calls.
  StagedExecution(std::shared_ptr<Context> comm, std::shared_ptr<const Plan> plan, Binding binding, Stream stream,
                  std::chrono::nanoseconds timeout);
  ~StagedExecution() override;

  [[nodiscard]] std::string name() const override;
  bool order_before(device::StreamHandle stream) override;
  void announce_backoff() noexcept override;
  void backoff() noexcept override;

 private:
  struct State;
  bool begin() override;
  bool step() override;
  void cancel() noexcept override;
  std::unique_ptr<State> state_;
};

/// Returns true if a blocking staged call returns before its communication is done. A call with a user's operation does
/// not, because the caller may destroy the operation after the call.
[[nodiscard]] bool leaves_at_once(const Plan& plan, const Stream& caller, int device);

}  // namespace tutti::detail
