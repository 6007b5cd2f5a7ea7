// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tutti/options.hpp>

#include "call/binding.hpp"
#include "call/execution.hpp"
#include "call/machine.hpp"
#include "call/plan.hpp"

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
  /// The communicator is aborted; from any thread, at any moment.
  virtual void abort() noexcept {}
  /// Sleep until another rank writes or a short time is over, where ranks wake each other: announce, poll once more,
  /// then back off. False where nothing would wake the caller.
  virtual void announce_backoff() noexcept {}
  [[nodiscard]] virtual bool backoff() noexcept { return false; }
  /// MPI ends. Executions may still refer to the state, so that it lives on without MPI.
  virtual void release() noexcept {}
};

/// What one call asks for beside its signature: facts of this rank.
struct CallOptions {
  Stream stream{};
  std::chrono::nanoseconds timeout{0};  ///< 0: none
};

/// The mark by which ranks match the executions of one call: a tag of messages, a cell, a sequence number. Turns are
/// taken in the order of calls.
struct Turn {
  static constexpr std::int64_t none = -1;
  std::int64_t number = none;
  [[nodiscard]] bool valid() const noexcept { return number != none; }
};

/// How a call is cut: `part` is the call of all pieces but the last, which has `last_count` elements.
struct Cut {
  std::size_t pieces = 1;
  Signature part{};
  std::size_t last_count = 0;
};

using ContextPtr = std::shared_ptr<Context>;
using PlanPtr = std::shared_ptr<const Plan>;

/// A backend carries data between ranks. It is one object, defined in its folder's backend.cpp and listed once, in
/// backends/list.cpp; nothing above the backends knows more of it than stands here. A null function means that there is
/// nothing to do.
struct Backend {
  /// In names of ways ("shm:slots"), options and reports.
  std::string_view name{};
  /// Adds every way in which this backend makes a call, with its predicted seconds and, where it is not to be chosen,
  /// the reason. A function of shared facts alone. It may look at those that earlier backends of the list have added.
  void (*add_candidates)(Candidates& all) = nullptr;
  /// Fills a plan that was made of one of its candidates: its schedule. Asked again for a plan with another count.
  void (*complete)(Plan& plan, const Machine& machine) = nullptr;
  /// Where a call is cut into pieces that another backend carries: how, and the call that one piece is.
  Cut (*cut)(const Signature& signature, const Machine& machine) = nullptr;
  /// Takes the turn of one execution, in the order of calls. For a persistent plan none may be left: then Plan::spare
  /// makes the call. Null: executions need none. It is collective where it has to ask other ranks.
  Turn (*take_turn)(Context& context, const Plan& plan) = nullptr;
  /// Gives back the turn of a persistent execution that is never made. Null: turns are plenty.
  void (*give_back)(Context& context, Turn turn) noexcept = nullptr;
  /// Makes the execution of a plan at its turn.
  std::shared_ptr<Execution> (*make)(const ContextPtr& context, PlanPtr plan, Binding binding, Turn turn,
                                     const CallOptions& options) = nullptr;
  /// The short way of a blocking call: takes a turn, runs and returns when the call is done, with no execution on the
  /// heap. Null: by make().
  void (*run)(const ContextPtr& context, const PlanPtr& plan, Binding&& binding, const CallOptions& options) = nullptr;
  /// The state of a new communicator, or null with the reason in `report`, alike on all ranks. Collective, blocking.
  std::unique_ptr<BackendState> (*create_state)(Context& context, std::string& report) = nullptr;
  /// For the summary of the configuration: "NCCL: 2.28.9", or an empty text.
  std::string (*summary)() = nullptr;
  /// The backend that makes persistent calls for which take_turn() found none left; empty: none is needed.
  std::string_view overflow{};
  /// Whether its work is recorded by a stream under capture.
  bool captures = false;
  /// Whether another backend may have it carry a part of a call: its executions keep the order of turns.
  bool carries_parts = false;
  /// Its number in the list, and of its state in a Context.
  std::size_t slot = 0;
};

/// An execution of a plan, or of its spare plan where the backend has no turn left.
[[nodiscard]] std::shared_ptr<Execution> make_execution(const ContextPtr& context, PlanPtr plan, Binding binding,
                                                        const CallOptions& options);

/// A blocking call by its plan, to its end.
void run_plan(const ContextPtr& context, const PlanPtr& plan, Binding&& binding, const CallOptions& options);

}  // namespace tutti::detail
