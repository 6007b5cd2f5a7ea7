// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>

#include "backends/device/buffers.hpp"
#include "backends/nccl/comm.hpp"
#include "backends/nccl/rules.hpp"
#include "call/plan.hpp"
#include "operation/binding.hpp"

/// What puts one operation on a stream, part by part. The caller holds the launch mutex of the device.
namespace tutti::detail::nccl {

struct Puts;

/// A call of NCCL that launches work.
struct LaunchingCall {
  Result result;  ///< in_progress: NCCL connects, or launches in another thread
  const char* name;
};

/// What the parts of one operation have in common.
struct Launch {
  Comm& comm;
  int rank;
  int size;
  StreamHandle stream;
  const Plan& plan;
  const Binding& binding;
  DeviceBuffers& buffers;
  CallConfig config{};         ///< of its collectives, from NCCL 2.31 on
  const Puts* puts = nullptr;  ///< of a plan that puts

  /// Calls a collective of NCCL, in the form that takes a configuration where NCCL has it.
  template <typename Plain, typename Configured, typename... Arguments>
  [[nodiscard]] LaunchingCall collective(const char* name, Plain plain, Configured configured,
                                         Arguments... arguments) const {
    if (configured == nullptr) return {plain(arguments..., comm.handle(), stream), name};
    return {configured(arguments..., comm.handle(), stream, &config), name};
  }
};

/// The parts of one operation, each a call of NCCL and the local work before it. Nothing waits.
class Parts {
 public:
  Parts() = default;
  virtual ~Parts() = default;
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;
  /// Puts the next part on the stream, once the last call is through; after the last one the local work that is left,
  /// and returns nothing. Throws Error where NCCL refuses what comes before a launch.
  [[nodiscard]] virtual std::optional<LaunchingCall> next() = 0;
};

/// Returns true if the input must be saved before the collective, because NCCL cannot do the operation in place.
[[nodiscard]] bool saves_input(const Signature& signature, const Binding& binding);

/// Whether a plan's name says how NCCL makes its collective.
[[nodiscard]] inline bool is_told(const Plan& plan) { return plan.protocol == static_cast<std::uint8_t>(Form::told); }
/// What the collectives of a plan ask of NCCL; lives no longer than the plan. number: of the call among the collectives
/// of its communicator, 0: unknown.
[[nodiscard]] CallConfig config_of(const Plan& plan, std::uint32_t number);

/// The single collective that makes the whole call.
[[nodiscard]] std::unique_ptr<Parts> direct_parts(const Launch& launch);

/// Whether a plan's call is made by wide_parts.
[[nodiscard]] inline bool is_wide(const Plan& plan) { return plan.protocol == static_cast<std::uint8_t>(Form::wide); }
/// The call in float32: kernels widen the input, NCCL reduces it, and kernels round the result once. A long allreduce
/// is a reduce_scatter in float32 and an allgather of rounded blocks, which moves 3/4 of the bytes.
[[nodiscard]] std::unique_ptr<Parts> wide_parts(const Launch& launch);
/// The scratch memory of wide_parts, in bytes.
[[nodiscard]] std::size_t wide_bytes(const Signature& signature, int size);
/// Loads its kernels. Not under the launch lock.
void load_wide_kernels(const Signature& signature, int size, StreamHandle stream);

/// The rounds of a schedule, each a group followed by its local work. The schedule outlives them.
[[nodiscard]] std::unique_ptr<Parts> schedule_parts(const Launch& launch, const schedules::Schedule& schedule);

/// Whether a plan's call is made by put_parts.
[[nodiscard]] inline bool is_put(const Plan& plan) { return plan.protocol == static_cast<std::uint8_t>(Form::put); }
/// The messages of a schedule, each put into the window of its receiver without its help, and its local work. connects:
/// the ranks have put nothing yet, and all meet once.
[[nodiscard]] std::unique_ptr<Parts> put_parts(const Launch& launch, const schedules::Schedule& schedule,
                                               bool connects);

/// The number of signal bytes that schedule_parts needs, if messages without elements have a meaning.
[[nodiscard]] std::size_t signal_bytes(const schedules::Schedule& schedule, Operation operation);

}  // namespace tutti::detail::nccl
