// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>

#include "backends/device/buffers.hpp"
#include "backends/nccl/comm.hpp"
#include "backends/nccl/rules.hpp"
#include "call/binding.hpp"
#include "call/plan.hpp"

/// Puts the NCCL calls of one operation on a stream. Waits only for NCCL's own states. The caller holds the launch
/// mutex of the device.
namespace tutti::detail::nccl {

/// The parts that the calls of one operation have in common.
struct Launch {
  Comm& comm;
  int rank;
  int size;
  StreamHandle stream;
  std::chrono::nanoseconds timeout;
  const Plan& plan;
  const Binding& binding;
  DeviceBuffers& buffers;
  bool& has_launched;  ///< set once NCCL has work on the stream

  void check(Result result, const char* what) const { comm.check(result, what, timeout); }
};

/// Returns true if the input must be saved before the collective, because NCCL cannot do the operation in place.
[[nodiscard]] bool saves_input(const Signature& signature, const Binding& binding);

/// Launches the single collective that makes the whole call.
void launch_direct(const Launch& launch);

/// Whether a plan's call is made by launch_wide.
[[nodiscard]] inline bool is_wide(const Plan& plan) { return plan.protocol == static_cast<std::uint8_t>(Form::wide); }
/// Launches the call in float32: widens the input by a kernel, has NCCL reduce it, and rounds the result once. A long
/// allreduce is a reduce_scatter in float32 and an allgather of rounded blocks, which moves 3/4 of the bytes.
void launch_wide(const Launch& launch);
/// The scratch memory of launch_wide, in bytes.
[[nodiscard]] std::size_t wide_bytes(const Signature& signature, int size);
/// Loads its kernels. Not under the launch lock.
void load_wide_kernels(const Signature& signature, int size, StreamHandle stream);

/// Launches the rounds of a schedule, each as a group followed by its local work.
void launch_schedule(const Launch& launch, const schedules::Schedule& schedule);

/// The number of signal bytes that launch_schedule needs, if messages without elements have a meaning.
[[nodiscard]] std::size_t signal_bytes(const schedules::Schedule& schedule, Operation operation);

}  // namespace tutti::detail::nccl
