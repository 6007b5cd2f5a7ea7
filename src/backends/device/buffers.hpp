// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "algorithms/schedule.hpp"
#include "communicator/binding.hpp"
#include "communicator/plan.hpp"
#include "device/pool.hpp"

namespace tutti::detail {

/// The buffers of one run of a schedule on device memory, and its local work in stream order: what ScheduleExecution
/// does at once on host memory. Used by the nccl backend and by the mpi backend on device buffers.
class DeviceBuffers {
 public:
  /// Takes scratch memory from the pool of the device. Keeps references to nothing but the addresses in `binding`.
  void acquire(const Plan& plan, const algorithms::Schedule& schedule, const Binding& binding, int rank, int size,
               int device);
  /// Copies the input where it is in place and the schedule would overwrite it, or multiplies it where the operation
  /// asks for that.
  void prepare_input(device::StreamHandle stream);
  /// The local steps of a round.
  void run_locals(const algorithms::Round& round, device::StreamHandle stream);
  /// The division of an average that was summed in several steps.
  void finish_result(device::StreamHandle stream);
  /// Gives the scratch back. Nothing on a stream may use it any more.
  void release() noexcept;

  [[nodiscard]] const std::byte* read_address(const algorithms::Slice& slice) const;
  [[nodiscard]] std::byte* write_address(const algorithms::Slice& slice) const;
  [[nodiscard]] std::size_t unit() const noexcept { return unit_; }

 private:
  void reduce(const algorithms::Local& local, device::StreamHandle stream);

  const Plan* plan_ = nullptr;
  const Binding* binding_ = nullptr;
  bool alias_safe_ = false;
  int rank_ = 0;
  int size_ = 1;
  int device_ = 0;
  std::size_t unit_ = 1;
  const void* input_ = nullptr;
  device::Block input_copy_{};
  device::Block scratch_{};
};

}  // namespace tutti::detail
