// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>

#include "call/plan.hpp"
#include "device/pool.hpp"
#include "operation/shape.hpp"
#include "schedules/schedule.hpp"

namespace tutti::detail {

/// The buffers of one run of a schedule on device memory, and its local work in stream order; ScheduleExecution does
/// the same at once on host memory. Used by the nccl backend and by the mpi backend on device buffers. The device must
/// be current when work is put on a stream.
class DeviceBuffers {
 public:
  /// Takes all scratch memory from the pool of the device. The plan and the binding must live until finish_result();
  /// the schedule is not kept.
  void acquire(const Plan& plan, const schedules::Schedule& schedule, const Binding& binding, int rank, int size,
               int device);
  /// As acquire(), for a collective that is not a schedule: takes only the copy of an input that it would overwrite, if
  /// `saves`.
  void acquire_direct(const Plan& plan, const Binding& binding, int rank, int size, int device, bool saves);
  /// Memory for the call's own use.
  void acquire_scratch(std::size_t bytes);
  [[nodiscard]] std::byte* scratch() const noexcept { return scratch_.data(); }
  /// Bytes without meaning, for an empty message that serves as a signal.
  void acquire_signals(std::size_t bytes);
  [[nodiscard]] bool is_acquired() const noexcept { return plan_ != nullptr; }

  /// Before the first work: loads the kernels of a plan that combines, at most once for each. Not under the launch
  /// lock.
  static void load_kernels(const Plan& plan, const Binding& binding, int size, device::StreamHandle stream);
  /// Copies an in-place input that the schedule would overwrite, or multiplies the input if the operation requires it.
  void prepare_input(device::StreamHandle stream);
  /// Does the local steps of a round.
  void run_locals(const schedules::Round& round, device::StreamHandle stream);
  /// Divides an average that was summed in several steps.
  void finish_result(device::StreamHandle stream);
  /// Returns the scratch memory, which no stream may use any more.
  void release() noexcept;
  /// Returns true if there is scratch memory to return.
  [[nodiscard]] bool holds_blocks() const noexcept;

  [[nodiscard]] const std::byte* read_address(const schedules::Slice& slice) const;
  [[nodiscard]] std::byte* write_address(const schedules::Slice& slice) const;
  /// The user's input, or its copy.
  [[nodiscard]] const std::byte* input() const noexcept { return static_cast<const std::byte*>(input_); }
  [[nodiscard]] std::byte* signals() const noexcept { return signals_.data(); }
  [[nodiscard]] std::size_t unit() const noexcept { return unit_; }

 private:
  [[nodiscard]] Shape shape() const { return {plan_->signature, *binding_, rank_, size_}; }
  void bind(const Plan& plan, const Binding& binding, int rank, int size, int device);
  void acquire_copy();
  void reduce(const schedules::Local& local, device::StreamHandle stream);

  const Plan* plan_ = nullptr;
  const Binding* binding_ = nullptr;
  int rank_ = 0;
  int size_ = 1;
  int device_ = 0;
  std::size_t unit_ = 1;
  std::size_t copied_ = 0;  ///< number of input elements that are copied
  const void* input_ = nullptr;
  device::Block input_copy_{};
  device::Block scratch_{};
  device::Block signals_{};
};

/// Keeps buffers until the graph into which the stream is captured, and all graphs made from it, are gone.
DeviceBuffers& retain_by_graph(std::unique_ptr<DeviceBuffers> buffers, device::StreamHandle stream);

}  // namespace tutti::detail
