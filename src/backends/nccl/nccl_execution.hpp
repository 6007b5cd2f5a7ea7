// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>

#include "backends/device/buffers.hpp"
#include "backends/nccl/launching.hpp"
#include "call/execution.hpp"
#include "call/plan.hpp"
#include "device/pool.hpp"
#include "operation/binding.hpp"

namespace tutti::detail {

/// Runs an operation on device memory by NCCL, on one stream: one collective, or the rounds of a schedule, each a group
/// of sends and receives followed by its local work. A blocking call with a stream runs on that stream and is done once
/// it is launched. A call without a stream, and a nonblocking or persistent call, runs on the communicator's own
/// stream, after the work on the caller's stream; it is done once the device has finished. Its launch may be finished
/// by later steps, since NCCL may have to wait for the other ranks (nccl::Launching). A captured call is done once it
/// is launched; a nonblocking or persistent one must then be joined by order_before() on the captured stream. NCCL's
/// work cannot be cancelled, so an operation that fails or is given up aborts the NCCL communicator.
class NcclExecution final : public Execution {
 public:
  /// Requires a communicator that is prepared for its device with NCCL, and a plan of the nccl backend.
  /// capture: that of the stream at the call, if the caller knows it; 0: none. puts: of a plan that puts.
  NcclExecution(std::shared_ptr<Context> comm, std::shared_ptr<const Plan> plan, Binding binding, Stream stream,
                std::chrono::nanoseconds timeout, std::optional<std::uint64_t> capture = std::nullopt,
                std::shared_ptr<const nccl::Puts> puts = nullptr);
  ~NcclExecution() override;

  [[nodiscard]] std::string name() const override;
  bool order_before(device::StreamHandle stream) override;
  /// Once it is launched.
  [[nodiscard]] bool will_order() const noexcept override { return phase() == Phase::active && launching_ != nullptr; }

 private:
  bool begin() override;
  bool step() override;
  void cancel() noexcept override;

  [[nodiscard]] bool breaks_communicator() const noexcept override { return is_under_way_; }

  [[nodiscard]] bool runs_on_callers() const;
  [[nodiscard]] bool may_launch_later() const { return !runs_on_callers() && capture_ == 0; }
  [[nodiscard]] bool needs_kernels() const;
  [[noreturn]] void refuse_capture(const char* why);
  void load_kernels(device::StreamHandle stream);
  [[nodiscard]] device::StreamHandle enter_stream();
  [[nodiscard]] DeviceBuffers& acquire(device::StreamHandle stream);
  void acquire_into(DeviceBuffers& buffers) const;
  void launch(DeviceBuffers& buffers, device::StreamHandle stream);
  void start_launch(DeviceBuffers& buffers, device::StreamHandle stream);
  [[nodiscard]] bool has_launched() const;
  [[nodiscard]] std::uint32_t number() const noexcept;
  [[nodiscard]] nccl::Launch launch_of(DeviceBuffers& buffers, device::StreamHandle stream) const;
  [[nodiscard]] const std::shared_ptr<const device::Event>& after() const noexcept;
  void look_for_capture(device::StreamHandle stream);
  void watch(device::StreamHandle stream);
  void leave_blocks() noexcept;
  [[noreturn]] void rethrow_named(const Error& error);

  std::shared_ptr<const Plan> plan_;
  Binding binding_;
  Stream stream_;
  std::chrono::nanoseconds patience_;
  std::shared_ptr<const schedules::Schedule> schedule_{};
  std::shared_ptr<const nccl::Puts> puts_;
  DeviceBuffers buffers_{};
  device::Event before_{};
  std::shared_ptr<const device::Event> begun_{};  ///< of a call that the watch takes over
  std::shared_ptr<const device::Event> after_{};  ///< null before the first launch
  std::shared_ptr<nccl::Launching> launching_{};  ///< of a call that may launch later; null: it has launched
  std::optional<std::uint64_t> known_capture_{};  ///< at the next start
  std::uint64_t capture_ = 0;                     ///< capture that contained the last start; 0: none
  bool is_under_way_ = false;                     ///< the other ranks may wait for this one
};

}  // namespace tutti::detail
