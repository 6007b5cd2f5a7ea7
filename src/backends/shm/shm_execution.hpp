// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "backends/shm/exchange.hpp"
#include "backends/shm/lines.hpp"
#include "backends/shm/parts.hpp"
#include "backends/shm/protocol.hpp"
#include "backends/shm/single_copy.hpp"
#include "backends/shm/slots.hpp"
#include "backends/shm/tree.hpp"
#include "call/backend.hpp"
#include "call/scratch.hpp"

namespace tutti::detail {

/// Runs an operation over the shared memory of a node.
class ShmExecution final : public Execution {
 public:
  /// turn: the first of the two cells of a persistent plan, which the destructor releases; otherwise the sequence
  /// number of the call. Start such an execution: later calls stall once the ordered cells (12) are used.
  ShmExecution(ContextPtr context, PlanPtr plan, Binding&& binding, Turn turn, std::chrono::nanoseconds timeout);
  ~ShmExecution() override;

  /// Continues an operation that the fast path of a call began at the same turn.
  void resume(shm::Lines begun) noexcept;
  void resume(shm::Slots begun) noexcept;
  void resume(shm::SingleCopy begun, ScratchPool::Block scratch) noexcept;
  void resume(shm::Parts begun) noexcept;
  void resume(shm::Tree begun) noexcept;

  [[nodiscard]] std::string name() const override;
  [[nodiscard]] bool goes_on_inside_mpi() const noexcept override;
  void announce_backoff() noexcept override { arena_->announce_backoff(); }
  [[nodiscard]] std::uint64_t moves() const noexcept override;
  void backoff() noexcept override {
    (void)arena_->backoff();
    idle_steps_.store(steps_per_look - 1, std::memory_order_relaxed);  // a sleep is as long as many steps
  }

 private:
  /// idle: between starts; cell: waiting for the ranks that still use it; largest: for the sizes of all.
  enum class Stage : std::uint8_t { idle, cell, largest, lines, slots, single_copy, parts, tree };

  bool begin() override;
  bool step() override;
  void cancel() noexcept override;

  [[nodiscard]] shm::Protocol protocol() const noexcept { return static_cast<shm::Protocol>(plan_->protocol); }
  template <typename Transport>
  void go_on(Transport& own, Transport begun, Stage stage) noexcept;
  void enter_cell();
  void prepare_source();
  [[nodiscard]] bool is_cell_free();
  void publish();
  void publish_buffers();
  [[nodiscard]] bool choose();
  [[nodiscard]] bool advance();
  void finish();
  /// Throws if another rank makes another call. One rank at a time, because a look must not take longer among many.
  void check_next_peer();

  PlanPtr plan_;
  Binding binding_;
  shm::Arena* arena_;
  Turn turn_;
  shm::Exchange exchange_{};
  Stage stage_ = Stage::idle;
  static constexpr std::uint32_t steps_per_look = 64;  ///< idle steps between looks at the other ranks and into MPI
  std::atomic<std::uint32_t> idle_steps_{0};           ///< written by the thread that waits, and by one that steps
  int next_peer_ = 0;
  shm::Lines lines_{};
  shm::Slots slots_{};
  shm::SingleCopy single_copy_{};
  shm::Parts parts_{};
  shm::Tree tree_{};
  ScratchPool::Block source_copy_{};
  ScratchPool::Block scratch_{};
};

}  // namespace tutti::detail
