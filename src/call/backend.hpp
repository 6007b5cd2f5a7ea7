// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tutti/error.hpp>
#include <tutti/options.hpp>

#include "call/costs.hpp"
#include "call/execution.hpp"
#include "call/machine.hpp"
#include "call/plan.hpp"
#include "diagnosis/recorder.hpp"
#include "operation/binding.hpp"

namespace tutti::detail {

class Candidates;

/// The part of a backend that belongs to one communicator: memory, handles.
class BackendState {
 public:
  BackendState() = default;
  virtual ~BackendState() = default;
  BackendState(const BackendState&) = delete;
  BackendState& operator=(const BackendState&) = delete;
  /// Adds the facts that this backend has agreed on with all ranks.
  virtual void describe(Machine& /*machine*/) const {}
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
  flight::Note note{};                  ///< of a nonblocking call, or of one that the backend stamps
  std::uint64_t capture = 0;            ///< that the stream takes part in at the call; 0: none
};

/// The mark by which ranks match the executions of one call: a message tag, a cell or a sequence number. Turns are
/// taken in the order of calls.
struct Turn {
  static constexpr std::int64_t none = -1;
  std::int64_t number = none;
  std::uint64_t history = 0;  ///< of a backend that compares calls: a digest of this one and all before it
  [[nodiscard]] bool valid() const noexcept { return number != none; }
};

/// The division of a call: `part` is the call of all pieces except the last, which has `last_count` elements.
struct Cut {
  std::size_t pieces = 1;
  Signature part{};
  std::size_t last_count = 0;
};

using ContextPtr = std::shared_ptr<Context>;
using PlanPtr = std::shared_ptr<const Plan>;

/// A blocking or nonblocking call that is repeated on one communicator, with all that follows from its plan worked out.
/// The arguments are those of the first call, but for addresses. It stamps options.note, once the other ranks need not
/// wait for that.
class ReadyCall {
 public:
  ReadyCall() = default;
  virtual ~ReadyCall() = default;
  ReadyCall(const ReadyCall&) = delete;
  ReadyCall& operator=(const ReadyCall&) = delete;
  /// As Backend::run.
  virtual void run(const ContextPtr& context, const PlanPtr& plan, Binding&& binding, const CallOptions& options) = 0;
  /// As Backend::begin.
  virtual std::shared_ptr<Execution> begin(const ContextPtr& context, const PlanPtr& plan, Binding&& binding,
                                           const CallOptions& options) = 0;
};

/// A backend carries data between ranks. It is one object, defined in its folder's backend.cpp and listed once, in
/// backends/list.cpp; the code above the backends knows only this interface. A null function means that there is
/// nothing to do.
struct Backend {
  /// The name in candidates ("shm:slots"), options and reports.
  std::string_view name{};
  /// Adds every way in which this backend makes a call, with its predicted time in seconds and, if it must not be
  /// chosen, the reason. A function of shared facts alone. May read the candidates of earlier backends in the list.
  void (*add_candidates)(Candidates& all) = nullptr;
  /// Fills in what a plan made from one of its candidates has beyond it, a schedule or a limit. Called again for a plan
  /// with another count.
  void (*complete)(Plan& plan, const Machine& machine) = nullptr;
  /// The division of a call into pieces that another backend carries, and the call of one piece.
  Cut (*cut)(const Signature& signature, const Machine& machine) = nullptr;
  /// Takes the turn of one execution, in the order of calls. If no turn is left for a persistent plan, Plan::spare
  /// makes the call. Null: executions need no turn. Collective, with the timeout, if it has to ask other ranks.
  Turn (*take_turn)(Context& context, const Plan& plan, std::chrono::nanoseconds timeout) = nullptr;
  /// Returns the turn of a persistent execution that is never made. Null: turns are unlimited.
  void (*give_back)(Context& context, Turn turn) noexcept = nullptr;
  /// Makes the execution of a plan at its turn.
  std::shared_ptr<Execution> (*make)(const ContextPtr& context, const PlanPtr& plan, Binding&& binding, Turn turn,
                                     const CallOptions& options) = nullptr;
  /// The fast path of a blocking call: takes a turn, runs, and returns when the call is done, without an execution on
  /// the heap. Null: make() serves blocking calls too.
  void (*run)(const ContextPtr& context, const PlanPtr& plan, Binding&& binding, const CallOptions& options) = nullptr;
  /// Makes a call ready to be repeated that is not persistent. Null, or returns null: run() and begin() serve the next
  /// one too.
  std::unique_ptr<ReadyCall> (*ready)(Context& context, const Plan& plan, const Binding& binding) = nullptr;
  /// The fast path of a nonblocking call: takes a turn and begins. Returns null if the call is complete, else an
  /// execution to be started, which continues it. Null: take_turn() and make() serve nonblocking calls.
  std::shared_ptr<Execution> (*begin)(const ContextPtr& context, const PlanPtr& plan, Binding&& binding,
                                      const CallOptions& options) = nullptr;
  /// Makes the state of a new communicator. Returns null on all ranks, with the reason in `report`, if there is none.
  /// Collective, blocking.
  std::unique_ptr<BackendState> (*create_state)(Context& context, std::string& report) = nullptr;
  /// Measures the costs that this backend's candidates are predicted by, on an unused communicator of one node with a
  /// core for each of its ranks, at least two, in a few milliseconds; for a check only the costs that change first, in
  /// a fraction of one. A rank that cannot measure leaves `costs` as they are. Collective.
  void (*calibrate)(Context& context, Costs& costs, Calibration kind) = nullptr;
  /// The line for the summary of the configuration: "NCCL: 2.28.9", or an empty text.
  std::string (*summary)() = nullptr;
  /// The backend that makes persistent calls for which take_turn() found none left; empty: none is needed.
  std::string_view overflow{};
  /// Returns true if a stream under capture records the work.
  bool captures = false;
  /// Returns true if run() stamps options.note, once the other ranks need not wait for that.
  bool stamps = false;
  /// Returns true if it may carry a part of another backend's call, because its executions keep the order of turns.
  bool carries_parts = false;
  /// Index of the backend in the list, and of its state in a Context.
  std::size_t slot = 0;
};

/// Makes an execution of a plan, or of its spare plan if the backend has no turn left.
[[nodiscard]] std::shared_ptr<Execution> make_execution(const ContextPtr& context, const PlanPtr& plan,
                                                        Binding&& binding, const CallOptions& options);

/// The request of a nonblocking call that Backend::begin has begun.
[[nodiscard]] Request request_of(std::shared_ptr<Execution> begun, const CallOptions& options);

/// Starts a nonblocking call by its plan.
[[nodiscard]] Request start_plan(const ContextPtr& context, const PlanPtr& plan, Binding&& binding,
                                 const CallOptions& options);

/// Runs a blocking call by its plan, to its end.
void run_plan(const ContextPtr& context, const PlanPtr& plan, Binding&& binding, const CallOptions& options);

}  // namespace tutti::detail
