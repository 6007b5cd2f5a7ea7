// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <tutti/communicator.hpp>
#include <vector>

#include "backends/device_side.hpp"
#include "backends/shm/arena.hpp"
#include "call/plan.hpp"
#include "call/scratch.hpp"
#include "call/send_order.hpp"
#include "planner/cost_model.hpp"

namespace tutti::detail {

namespace tuning {
class Table;
}

/// What is behind a Communicator. Outstanding executions keep it alive.
struct CommState {
  CommState(MPI_Comm handle, CommunicatorOptions chosen);
  ~CommState();
  CommState(const CommState&) = delete;
  CommState& operator=(const CommState&) = delete;

  /// Frees the private duplicates and what is owned of the user's handle; afterwards every use is an error. Collective.
  void release() noexcept;

  /// Throws where the communicator cannot be used: finalized, aborted, or broken by an earlier failure.
  void check_usable() const;
  /// Throws only where it was aborted. Cheap: called from waiting loops.
  void check_aborted() const {
    if (aborted.load(std::memory_order_acquire)) throw_aborted();
  }
  void abort(const std::string& reason) noexcept;
  /// After a collective failed half-way no later one can be trusted.
  void mark_broken(const std::string& reason) noexcept;

  /// Messages of a failed operation may still arrive: the private duplicates are never freed, because the host MPI
  /// would give their context to a new communicator, whose receives would match those messages.
  void keep_contexts() noexcept { keeps_contexts_.store(true); }

  [[nodiscard]] int next_tag() noexcept { return static_cast<int>(sequence++ % static_cast<std::uint64_t>(tag_half)); }
  [[nodiscard]] int next_persistent_tag() noexcept {
    return tag_half + static_cast<int>(persistent_sequence++ % static_cast<std::uint64_t>(tag_half));
  }
  /// From now on plans use the device; those made before know nothing of it.
  void use_device(std::unique_ptr<DeviceSide> side);
  /// "communicator 'name', rank 1 of 4".
  [[nodiscard]] std::string describe() const;

  MPI_Comm user = MPI_COMM_NULL;
  bool owns_user = false;
  MPI_Comm collective = MPI_COMM_NULL;
  MPI_Comm point_to_point = MPI_COMM_NULL;
  int rank = 0;
  int size = 1;
  int tag_half = 16384;
  CommunicatorOptions options{};
  Topology topology{};
  std::vector<int> node_of{};                    ///< the node of each rank, as the topology says
  LinkLevel on_node = LinkLevel::cache;          ///< the farthest that two ranks of one node are apart
  std::shared_ptr<const tuning::Table> table{};  ///< what was measured on this machine, where there is such a table
  std::string table_report{};                    ///< where it is from, or why there is none
  std::unique_ptr<shm::Arena> arena{};           ///< where all ranks are on one node and can share memory
  std::string shm_report{};                      ///< why there is no arena, or what it lacks; empty where all is well
  std::unique_ptr<DeviceSide> device{};          ///< once it is prepared for device memory
  PlanCache plans{};
  ScratchPool scratch{};
  SendOrder send_order{};
  std::uint64_t sequence = 0;
  std::uint64_t persistent_sequence = 0;
  std::atomic<bool> aborted{false};

 private:
  [[noreturn]] void throw_aborted() const;
  void keep_reason(const std::string& reason) noexcept;
  mutable std::mutex reason_mutex_;
  std::string reason_;
  std::atomic<bool> broken_{false};
  std::atomic<bool> keeps_contexts_{false};
  std::atomic<bool> released_{false};
  std::atomic<nccl::Comm*> nccl_to_abort_{nullptr};
};

/// Creates the private duplicates, learns the topology and checks that the ranks agree on version, options and
/// environment. Collective over `handle`, which stays the caller's: who owns it is set afterwards.
[[nodiscard]] std::shared_ptr<CommState> make_comm_state(MPI_Comm handle, const CommunicatorOptions& options);
/// The same for a part of a communicator: everything but the duplicates follows from the parent.
[[nodiscard]] std::shared_ptr<CommState> make_child_state(const CommState& parent, MPI_Comm handle);

}  // namespace tutti::detail
