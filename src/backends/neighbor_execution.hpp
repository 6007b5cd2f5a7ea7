// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "backends/shm/neighbor_slots.hpp"
#include "call/backend.hpp"
#include "call/execution.hpp"
#include "call/few.hpp"
#include "call/neighborhood.hpp"
#include "call/scratch.hpp"
#include "operation/signature.hpp"

namespace tutti::detail {

/// The ranks of this node as a communicator with shared memory: the communicator itself, or its part on the node. Null:
/// they share none, or this rank is alone on its node.
[[nodiscard]] Context* sharing_ranks(Context& context) noexcept;

/// Runs a neighborhood collective: the blocks for a neighbour on the same node go through shared memory if there is
/// some and the giver finds room there, else by messages on the private communicator. Packs a block with a layout just
/// before it goes, and unpacks one when it is there; what a rank sends to itself is copied from place to place.
class NeighborExecution final : public Execution {
 public:
  /// Takes its place in the order of calls on the communicator, which has a topology.
  NeighborExecution(ContextPtr comm, NeighborExchange&& exchange, CallKind kind, const CallOptions& options);
  ~NeighborExecution() override;

  [[nodiscard]] std::string name() const override { return std::string(exchange_.name); }
  void announce_backoff() noexcept override;
  void backoff() noexcept override;

 private:
  /// A block that is not empty, and where its bytes are while it is a message.
  struct Message {
    const EdgeBlock* block = nullptr;
    std::byte* bytes = nullptr;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  /// All blocks for a neighbour, or from it.
  struct Parcel {
    enum class State : std::uint8_t { kept, waiting, by_messages, posted, done };
    int peer = 0;
    int place = -1;  ///< of the peer among the ranks that share memory; -1: it is on another node
    State state = State::waiting;
    std::size_t first = 0;  ///< its messages
    std::size_t last = 0;
    std::size_t bytes = 0;
    std::uint64_t sizes = 0;  ///< a digest of the sizes of its blocks
    std::size_t lines = 0;    ///< of the giver that this rank has seen
    std::size_t next = 0;     ///< all its earlier messages are complete
    bool is_told = false;     ///< the taker has seen the giver's line, or there is none
    [[nodiscard]] bool is_over() const { return state == State::done && is_told; }
  };

  bool begin() override;
  bool step() override;
  void cancel() noexcept override;

  void plan();
  [[nodiscard]] Parcel::State first_state(const Parcel& parcel) const;
  /// Its messages begin at `next`, which moves behind them.
  [[nodiscard]] Parcel parcel_of(const EdgeRoute& route, const EdgeBlocks& blocks, std::size_t& next);
  /// The place of a peer among the ranks that share memory; -1: it has none there.
  [[nodiscard]] int place_of(int peer) const;
  void place_between();
  /// Gives each block that has a layout contiguous memory.
  void place_packed();
  void publish();
  void give(Parcel& parcel);
  void look(Parcel& parcel);
  void check_sizes(const Parcel& parcel, const shm::NeighborSlots::Given& given) const;
  void post(Parcel& parcel);
  void post_all();
  [[nodiscard]] bool has_arrived(Parcel& parcel);
  [[nodiscard]] bool is_taken(const Parcel& parcel) const {
    return static_cast<std::size_t>(&parcel - parcels_.begin()) < taken_;
  }
  void copy_own() const;
  void copy(const EdgeBlock& from, const EdgeBlock& to) const;
  [[nodiscard]] bool advance();
  void finish_slots();
  void watch();
  /// Whether a waiting rank is woken by data in shared memory; else it sleeps for messages, which wake nobody.
  [[nodiscard]] bool naps_by_slots() const noexcept { return slots_ && !has_messages_.load(std::memory_order_relaxed); }

  NeighborExchange exchange_;
  const EdgeRoutes& routes_;
  Context* sharing_;  ///< the ranks of slots_
  std::optional<shm::NeighborSlots> slots_{};
  int tag_;
  Few<Message, 8> messages_;
  Few<Parcel, 4> parcels_;  ///< those taken, then those given
  std::size_t taken_;       ///< number of parcels that are taken
  ScratchPool::Block packed_;
  ScratchPool::Block between_;  ///< for copies between two layouts
  std::size_t next_ = 0;        ///< all earlier parcels are done
  bool is_published_ = false;
  bool uses_slots_ = false;                            ///< they are not finished yet
  std::atomic<bool> has_messages_{false};              ///< that are not complete
  static constexpr std::uint32_t steps_per_look = 64;  ///< idle steps between looks at the other ranks and into MPI
  std::atomic<std::uint32_t> idle_steps_{0};           ///< written by the thread that waits, and by one that steps
};

}  // namespace tutti::detail
