// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tutti/communicator.hpp>
#include <vector>

#include "call/backend.hpp"
#include "call/commons.hpp"
#include "call/device_side.hpp"
#include "call/flight_log.hpp"
#include "call/late_communicator.hpp"
#include "call/machine.hpp"
#include "call/neighborhood.hpp"
#include "call/peers.hpp"
#include "call/scratch.hpp"
#include "call/send_order.hpp"
#include "core/mpi_call.hpp"

namespace tutti::detail {

class Check;
class PlanCache;
class Repeats;
class Summary;
class Trials;
struct KnownCalls;

/// A communicator, as calls, executions and backends see it. Outstanding executions keep it alive.
struct Context {
  explicit Context(CommunicatorOptions chosen);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  /// Frees the private communicators, the states of backends, and the user's handle if it is owned; afterwards every
  /// use is an error. Collective.
  void release() noexcept;

  /// Keeps a communicator until MPI_Finalize if it ends because an exception is under way: the other ranks need not
  /// come to the same place, and to free it is collective.
  static void let_go(std::shared_ptr<Context>&& context) noexcept;

  /// Throws if the communicator cannot be used, because it is finalized, aborted, or broken by an earlier failure.
  void check_usable() const {
    if (!is_usable()) [[unlikely]]
      throw_unusable();
  }
  [[nodiscard]] bool is_usable() const noexcept {
    return !released_.load(std::memory_order_acquire) && !aborted.load(std::memory_order_acquire) &&
           !broken_.load(std::memory_order_acquire);
  }
  /// Throws only if the communicator was aborted. Cheap enough for waiting loops.
  void check_aborted() const {
    if (aborted.load(std::memory_order_acquire)) throw_aborted();
  }
  /// Throws Error(peer_died), which names the rank, if one is seen to have ended in a look now. who: begins the text.
  void check_peers(std::string_view who);
  /// Ends this rank's calls, and tells the other ranks as far as it can. Any thread.
  void abort(const std::string& reason) noexcept;
  /// Aborts this rank's calls if another rank has told that it aborted.
  void hear_of_abort();
  /// Marks the communicator as broken: after a collective has failed half-way no later one can be trusted.
  /// The backends tell the other ranks.
  void mark_broken(ErrorCode code, const std::string& reason) noexcept;

  /// Tells the other ranks why the communicator is broken, by messages: they abort their calls. For work that does not
  /// end on the other ranks by itself. Says nothing of what they learn otherwise: an abort, the end of a process or of
  /// MPI. Any thread.
  void tell_of_failure() const noexcept;

  /// Before this rank ends a collective call with an error that other ranks may not have: the backends tell them.
  void refuse(flight::Call call) noexcept;
  /// The same for a call that check mode has published.
  void refuse_turn(flight::Call call) noexcept;

  /// Keeps the private communicators for ever: messages of a failed operation may still arrive, and if their
  /// communicator were freed, the host MPI would give its context to a new one, whose receives would match them.
  void keep_contexts() noexcept {
    keeps_contexts_.store(true);
    if (node) node->keep_contexts();
  }

  /// The caller's handle, or one of this communicator's ranks that is made now. Collective, blocking when it is made.
  [[nodiscard]] MPI_Comm handle();
  /// Begins to make the communicator for messages of collectives unless it is there. In the order of calls.
  void need_messages() {
    if (messages.get() == MPI_COMM_NULL && size > 1) messages.begin(point_to_point);
  }
  /// The same, and waits for it. Collective, blocking.
  void make_messages() {
    need_messages();
    if (size > 1) messages.wait();
  }
  [[nodiscard]] int next_tag() noexcept { return static_cast<int>(sequence++ % static_cast<std::uint64_t>(tag_half)); }
  [[nodiscard]] int next_persistent_tag() noexcept {
    return tag_half + static_cast<int>(persistent_sequence++ % static_cast<std::uint64_t>(tag_half));
  }
  /// Tag of the messages that agree on device support; above all tags of executions.
  [[nodiscard]] int vote_tag() const noexcept { return 2 * tag_half; }
  /// The state of a backend, or null if it has none here.
  [[nodiscard]] BackendState* state_of(const Backend& backend) const noexcept { return states_[backend.slot].get(); }
  /// The reason why a backend has no state, or the limitation of its state; empty if there is neither.
  [[nodiscard]] const std::string& report_of(const Backend& backend) const noexcept { return reports_[backend.slot]; }
  void set_state(const Backend& backend, std::unique_ptr<BackendState> state, std::string report);
  /// The facts by which the planner chooses. Keeps views of this object.
  [[nodiscard]] Machine machine() const;
  /// The plan of a blocking call of the node's ranks. On the node's context.
  [[nodiscard]] const PlanPtr& plan_on_node(const Signature& signature);
  /// Later calls are planned anew.
  void forget_plans();
  /// "communicator 'name', rank 1 of 4".
  [[nodiscard]] std::string describe() const;
  /// For a call that has taken its turn and cannot go on: marks the communicator as broken by the exception that is
  /// being handled, and throws it as Error. who, way: begin its text, if it is none yet.
  [[noreturn]] void break_by_exception(std::string_view who, std::string_view way = {});
  [[noreturn]] void break_by_exception(const Plan& plan);
  /// The exception that is being handled, as Error: peer_died if the end of a rank explains it. who: begins its text,
  /// if it is none yet.
  [[nodiscard]] Error explain(std::string_view who);
  /// The text of Error(peer_died). who: begins it.
  [[nodiscard]] std::string words_on_ended(std::string_view who) const;

  static constexpr std::size_t most_backends = 8;

  std::optional<SessionUse> session{};  ///< present if MPI_Init has not been called
  MPI_Comm user = MPI_COMM_NULL;        ///< the caller's handle; MPI_COMM_NULL: own_handle takes its place
  bool refuses_stalling = false;        ///< services::refuse_stalling()
  bool owns_user = false;
  MPI_Errhandler own_errors = MPI_ERRHANDLER_NULL;  ///< the error handler of own_handle
  LateCommunicator own_handle{"the caller's own calls"};
  MPI_Comm point_to_point = MPI_COMM_NULL;  ///< for the host MPI's own collectives too, which no receive can match
  LateCommunicator messages{"the messages of collectives"};
  int rank = 0;
  int size = 1;
  std::uint64_t mark = 0;  ///< of this communicator, equal on all its ranks and known to nobody else
  Peers peers{};
  std::uint64_t shrinks = 0;  ///< collective calls that have joined its survivors
  int tag_half = 16384;
  CommunicatorOptions options{};
  std::unique_ptr<const Neighbors> neighbors{};  ///< null: the caller's communicator has no topology of MPI
  Topology topology{};
  schedules::NodeMap node_of{};     ///< the node of each rank, from the topology
  NodeMemory node_memory{};         ///< of several nodes
  std::shared_ptr<Context> node{};  ///< if they share memory: this rank's node, unless it is alone there
  /// The planner's, for calls that backends make on the node.
  PlanPtr (*make_plan)(const Signature& signature, const Machine& machine) = nullptr;
  LinkLevel on_node = LinkLevel::cache;            ///< the greatest distance between two ranks of one node
  ReductionFaults reduction_faults{};              ///< of the host MPI, on any rank
  Network network{};                               ///< between nodes, the slowest of all ranks'
  bool progress_hook = false;                      ///< operations go on inside the host MPI's calls, on all ranks
  std::string progress_report{};                   ///< by which of its functions, or the reason why they do not
  Costs costs{};                                   ///< by which the models predict
  std::string costs_report{};                      ///< their origin
  std::shared_ptr<const Measurements> measured{};  ///< on this machine, if there are any
  std::string measured_report{};                   ///< their origin, or the reason why there are none
  Fabric fabric{};                                 ///< of them, in the order of the nodes
  std::shared_ptr<Commons> commons{};              ///< of these processes; null: their states share nothing
  Lot lot{};                                       ///< of the commons, until a state takes it
  std::unique_ptr<DeviceSide> device{};            ///< present once the communicator is prepared for device memory
  const std::unique_ptr<KnownCalls> known;
  PlanCache& plans;
  Repeats& repeats;
  Trials& trials;
  std::unique_ptr<Check> check{};  ///< present in check mode
  Summary* const summary;          ///< null unless TUTTI_LOG asks for one
  FlightLog flight{};
  ScratchPool scratch{};
  SendOrder send_order{};
  std::uint64_t sequence = 0;
  std::uint64_t persistent_sequence = 0;
  std::atomic<bool> aborted{false};

 private:
  [[noreturn]] void throw_aborted() const;
  [[noreturn]] void throw_unusable() const;
  void abort_here(const std::string& reason) noexcept;
  void tell_of_abort(const std::string& reason) const noexcept;
  [[nodiscard]] int abort_tag() const noexcept { return vote_tag() + 1; }
  void keep_reason(const std::string& reason) noexcept;
  int exceptions_ = std::uncaught_exceptions();  ///< under way when it was made, in whose handling it lives
  mutable std::mutex reason_mutex_;
  std::string reason_;
  ErrorCode broken_by_ = ErrorCode::success;
  std::atomic<bool> broken_{false};
  std::atomic<bool> keeps_contexts_{false};
  std::atomic<bool> released_{false};
  std::array<std::unique_ptr<BackendState>, most_backends> states_{};  ///< read by an abort in another thread
  std::array<std::string, most_backends> reports_{};
};

/// Registers a communicator to be freed when MPI_Finalize deletes the attributes of MPI_COMM_SELF, in creation order.
void register_context(Context* state);
void unregister_context(Context* state) noexcept;

}  // namespace tutti::detail
