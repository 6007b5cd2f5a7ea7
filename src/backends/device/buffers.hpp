// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>

#include "call/binding.hpp"
#include "call/plan.hpp"
#include "device/pool.hpp"
#include "schedules/schedule.hpp"

namespace tutti::detail {

/// The buffers of one run of a schedule on device memory, and its local work in stream order: what ScheduleExecution
/// does at once on host memory. Used by the nccl backend and by the mpi backend on device buffers. The device is
/// current where work is put on a stream.
class DeviceBuffers {
 public:
  /// Takes all scratch memory from the pool of the device. The plan and the binding must outlive what is called up to
  /// finish_result(); the schedule is not kept.
  void acquire(const Plan& plan, const schedules::Schedule& schedule, const Binding& binding, int rank, int size,
               int device);
  /// As acquire(), for a collective that is no schedule: nothing but the copy of an input that it would overwrite,
  /// where `saves`.
  void acquire_direct(const Plan& plan, const Binding& binding, int rank, int size, int device, bool saves);
  /// Bytes without a meaning: of an empty message that is a signal.
  void acquire_signals(std::size_t bytes);
  [[nodiscard]] bool is_acquired() const noexcept { return plan_ != nullptr; }

  /// Copies the input where it is in place and the schedule would overwrite it, or multiplies it where the operation
  /// asks for that.
  void prepare_input(device::StreamHandle stream);
  /// The local steps of a round.
  void run_locals(const schedules::Round& round, device::StreamHandle stream);
  /// The division of an average that was summed in several steps.
  void finish_result(device::StreamHandle stream);
  /// Gives the scratch back. Nothing on a stream may use it any more.
  void release() noexcept;
  /// Whether there is anything to give back.
  [[nodiscard]] bool holds_blocks() const noexcept;

  [[nodiscard]] const std::byte* read_address(const schedules::Slice& slice) const;
  [[nodiscard]] std::byte* write_address(const schedules::Slice& slice) const;
  /// The user's input, or its copy.
  [[nodiscard]] const std::byte* input() const noexcept { return static_cast<const std::byte*>(input_); }
  [[nodiscard]] std::byte* signals() const noexcept { return signals_.data(); }
  [[nodiscard]] std::size_t unit() const noexcept { return unit_; }

 private:
  void bind(const Plan& plan, const Binding& binding, int rank, int size, int device);
  void acquire_copy();
  void reduce(const schedules::Local& local, device::StreamHandle stream);

  const Plan* plan_ = nullptr;
  const Binding* binding_ = nullptr;
  int rank_ = 0;
  int size_ = 1;
  int device_ = 0;
  std::size_t unit_ = 1;
  std::size_t copied_ = 0;  ///< elements of the input that are copied
  const void* input_ = nullptr;
  device::Block input_copy_{};
  device::Block scratch_{};
  device::Block signals_{};
};

/// Keeps buffers until the graph that the stream is captured into, and all made of it, are gone.
DeviceBuffers& retain_by_graph(std::unique_ptr<DeviceBuffers> buffers, device::StreamHandle stream);

}  // namespace tutti::detail
