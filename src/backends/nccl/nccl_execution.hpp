// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "backends/device/buffers.hpp"
#include "communicator/binding.hpp"
#include "communicator/execution.hpp"
#include "communicator/plan.hpp"
#include "device/pool.hpp"

namespace tutti::detail {

/// Runs an operation on device memory by NCCL: one collective, or the rounds of a schedule, each a group of sends and
/// receives followed by its local work, all on one stream. A blocking call with a stream runs on that stream and is
/// done when it is launched. Without a stream, and for nonblocking and persistent calls, it runs on the communicator's
/// own stream, after what is on the caller's; it is done when the device is.
class NcclExecution final : public Execution {
 public:
  NcclExecution(std::shared_ptr<CommState> comm, std::shared_ptr<const Plan> plan, Binding binding, Stream stream,
                std::chrono::nanoseconds timeout);
  ~NcclExecution() override;

  [[nodiscard]] std::string name() const override;
  bool order_before(device::StreamHandle stream) override;

 private:
  bool begin() override;
  bool step() override;
  void cancel() noexcept override;

  void launch();
  void run_direct();
  void run_schedule();

  std::shared_ptr<const Plan> plan_;
  Binding binding_;
  Stream stream_;
  std::shared_ptr<const algorithms::Schedule> schedule_{};
  DeviceBuffers buffers_{};
  device::Event before_{};
  device::Event after_{};
};

}  // namespace tutti::detail
