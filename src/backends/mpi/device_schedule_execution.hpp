// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

#include "backends/device/buffers.hpp"
#include "call/execution.hpp"
#include "call/plan.hpp"
#include "device/pool.hpp"
#include "operation/binding.hpp"

namespace tutti::detail {

/// Runs any schedule on device memory over MPI point-to-point messages. Kernels and copies on the communicator's own
/// stream do the local work, and each round's messages are posted once the work before them is done. A message uses
/// device memory directly if the MPI takes it, the call is blocking, and no NCCL work of this process is in flight on
/// the device; otherwise it goes through pinned memory. The message is the same, so this choice is local.
class DeviceScheduleExecution final : public Execution {
 public:
  DeviceScheduleExecution(std::shared_ptr<Context> comm, std::shared_ptr<const Plan> plan, Binding binding, int tag,
                          Stream stream, std::chrono::nanoseconds timeout);
  ~DeviceScheduleExecution() override;

  [[nodiscard]] std::string name() const override;
  bool order_before(device::StreamHandle stream) override;

 private:
  struct State;
  bool begin() override;
  bool step() override;
  void cancel() noexcept override;
  std::unique_ptr<State> state_;
};

}  // namespace tutti::detail
