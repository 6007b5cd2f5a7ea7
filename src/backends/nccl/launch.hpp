// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>

#include "backends/device/buffers.hpp"
#include "backends/nccl/comm.hpp"
#include "call/binding.hpp"
#include "call/plan.hpp"

/// The NCCL calls of one operation, put on a stream: no waiting but for NCCL's own states. The caller holds the
/// launch mutex of the device.
namespace tutti::detail::nccl {

/// What the calls of one operation have in common.
struct Launch {
  Comm& comm;
  int rank;
  int size;
  StreamHandle stream;
  std::chrono::nanoseconds timeout;
  bool is_captured;
  const Plan& plan;
  const Binding& binding;
  DeviceBuffers& buffers;

  void check(Result result, const char* what) const { comm.check(result, what, timeout); }
  /// After each launch: what follows may look for it.
  void note() const;
};

/// Whether the input must be saved before the one collective: NCCL has no such operation in place.
[[nodiscard]] bool saves_input(const Signature& signature, const Binding& binding);

/// The one collective that is the whole call.
void launch_direct(const Launch& launch);

/// The rounds of a schedule: a group each, and its local work.
void launch_schedule(const Launch& launch, const schedules::Schedule& schedule);

/// Bytes that launch_schedule needs as signals: where messages without elements mean something.
[[nodiscard]] std::size_t signal_bytes(const schedules::Schedule& schedule, Operation operation);

}  // namespace tutti::detail::nccl
