// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tutti/error.hpp>
#include <tutti/options.hpp>

#include "diagnosis/recorder.hpp"

namespace tutti {
class Request;
}

namespace tutti::detail {

class Candidates;
class Execution;
struct Binding;
struct Context;
struct Costs;
struct Machine;
struct Plan;
enum class Calibration : std::uint8_t;

using ContextPtr = std::shared_ptr<Context>;
using PlanPtr = std::shared_ptr<const Plan>;

/// The mark by which ranks match the executions of one call: a message tag, a cell or a sequence number. Turns are
/// taken in the order of calls.
struct Turn {
  static constexpr std::int64_t none = -1;
  std::int64_t number = none;
  std::uint64_t history = 0;  ///< of a backend that compares calls: a digest of this one and all before it
  [[nodiscard]] bool valid() const noexcept { return number != none; }
};

/// The part of a backend that belongs to one communicator: memory, handles.
class BackendState {
 public:
  BackendState() = default;
  virtual ~BackendState() = default;
  BackendState(const BackendState&) = delete;
  BackendState& operator=(const BackendState&) = delete;
  /// Adds the facts that this backend has agreed on with all ranks.
  virtual void describe(Machine& /*machine*/) const {}
  /// Measures the costs that this backend's candidates are predicted by, on an unused communicator of one node with a
  /// core for each of its ranks, at least two, in a few milliseconds; for a check only the costs that change first, in
  /// a fraction of one. A rank that cannot measure leaves `costs` as they are. Collective.
  virtual void calibrate(Context& /*context*/, Costs& /*costs*/, Calibration /*kind*/) {}
  /// Takes back the turn of a persistent execution that is never made, from a backend with a limited number of them.
  virtual void give_back(Turn /*turn*/) noexcept {}
  /// Called when the communicator is aborted, from any thread, at any time.
  virtual void abort() noexcept {}
  /// Called when a failed call has broken the communicator on this rank, from any thread: tells the other ranks, if it
  /// can, so that they do not wait for this one.
  virtual void fail(ErrorCode /*code*/, const std::string& /*reason*/) noexcept {}
  /// Sleep until another rank writes or a short time has passed, if ranks wake each other: announce, poll once more,
  /// then back off. Return false if nothing would wake the caller.
  virtual void announce_backoff() noexcept {}
  [[nodiscard]] virtual bool backoff() noexcept { return false; }
  /// Called when this rank refuses a collective call, before it takes a turn: tells the other ranks, if it can, which
  /// may be making that call.
  virtual void refuse(flight::Call /*call*/) noexcept {}
  /// Prepares for the end of MPI. Executions may still refer to the state, so it must live on without MPI.
  virtual void release() noexcept {}
};

/// The facts of this rank that a call needs in addition to its signature.
struct CallOptions {
  Stream stream{};
  std::chrono::nanoseconds timeout{0};  ///< 0: none
  flight::Note note{};                  ///< the backend stamps it, once the other ranks need not wait for that
  std::uint64_t capture = 0;            ///< that the stream takes part in at the call; 0: none
};

/// Makes the execution of a plan, to be started, at a turn that was taken for it. Without a turn, for a call that is
/// not persistent: takes it, may begin the call, and returns null if the call is then complete.
using Make = std::shared_ptr<Execution> (*)(const ContextPtr& context, const PlanPtr& plan, Binding&& binding,
                                            const Turn* turn, const CallOptions& options);

/// A backend carries data between ranks. It is one object, defined in its folder's backend.cpp and listed once, in
/// backends/list.cpp; the code above the backends knows only this interface. A null function means that there is
/// nothing to do.
struct Backend {
  /// The name in candidates ("shm:slots"), options and reports.
  std::string_view name{};
  /// Adds every way in which this backend makes a call, with its predicted time in seconds and, if it must not be
  /// chosen, the reason. A function of shared facts alone. May read the candidates of earlier backends in the list.
  void (*add_candidates)(Candidates& all) = nullptr;
  /// Fills in what a plan made from one of its candidates has beyond it: a schedule, a limit, a division into pieces.
  /// Called again for a plan with another count.
  void (*complete)(Plan& plan, const Machine& machine) = nullptr;
  /// Takes the turn of one execution, in the order of calls. If none is left for a persistent plan, it is invalid, and
  /// Plan::spare makes the call. Null: executions need no turn. Collective, with the timeout, if it has to ask other
  /// ranks.
  Turn (*take_turn)(Context& context, const Plan& plan, std::chrono::nanoseconds timeout) = nullptr;
  /// Makes the executions of its plans, unless complete() names another Plan::make.
  Make make = nullptr;
  /// Makes the state of a new communicator. Returns null on all ranks, with the reason in `report`, if there is none.
  /// Collective, blocking.
  std::unique_ptr<BackendState> (*create_state)(Context& context, std::string& report) = nullptr;
  /// The line for the summary of the configuration: "NCCL: 2.28.9", or an empty text.
  std::string (*summary)() = nullptr;
  /// Index of the backend in the list, and of its state in a Context.
  std::size_t slot = 0;
};

/// Makes an execution of a plan at its turn, to be started, or of its spare plan if the backend has no turn left.
[[nodiscard]] std::shared_ptr<Execution> make_execution(const ContextPtr& context, const PlanPtr& plan,
                                                        Binding&& binding, const CallOptions& options);

/// Starts a nonblocking call by its plan.
[[nodiscard]] Request start_plan(const ContextPtr& context, const PlanPtr& plan, Binding&& binding,
                                 const CallOptions& options);

}  // namespace tutti::detail
