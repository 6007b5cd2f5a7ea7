// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "backends/shm/exchange.hpp"
#include "backends/shm/protocol.hpp"
#include "call/backend.hpp"
#include "call/execution.hpp"
#include "call/plan.hpp"
#include "call/scratch.hpp"
#include "operation/binding.hpp"

namespace tutti::detail::shm {

/// A call over the shared memory of a node, whatever its protocol.
class Task : public Execution {
 public:
  /// turn: the first of the two cells of a persistent plan, which the destructor releases; otherwise the sequence
  /// number of the call. Start such a task: later calls stall once the ordered cells (12) are used.
  Task(ContextPtr context, PlanPtr plan, Binding&& binding, const Turn& turn, std::chrono::nanoseconds timeout);
  ~Task() override;

  [[nodiscard]] std::string name() const override;
  [[nodiscard]] bool goes_on_inside_mpi() const noexcept override;
  void announce_backoff() noexcept override { arena_->announce_backoff(); }
  void backoff() noexcept override {
    (void)arena_->backoff();
    idle_steps_.store(steps_per_look - 1, std::memory_order_relaxed);  // a sleep is as long as many steps
  }

 protected:
  /// idle: between starts; cell: waiting for the ranks that still use it; begun: by the transport.
  enum class Stage : std::uint8_t { idle, cell, begun };

  void cancel() noexcept override;

  /// Take the cell of this start, and the input that the other ranks are to see.
  void enter_cell();
  void prepare_source();
  /// Memory for the transport, kept from start to start.
  [[nodiscard]] std::byte* scratch(std::size_t bytes);
  /// After a step that has not ended the call: looks at the other ranks and into MPI now and then, and throws if one of
  /// them has failed or makes another call.
  void look_around();

  PlanPtr plan_;
  Binding binding_;
  Arena* arena_;
  Turn turn_;
  Exchange exchange_{};
  Stage stage_ = Stage::idle;
  ScratchPool::Block scratch_{};

 private:
  /// One rank at a time, because a look must not take longer among many.
  void check_next_peer();

  static constexpr std::uint32_t steps_per_look = 64;
  std::atomic<std::uint32_t> idle_steps_{0};  ///< written by the thread that waits, and by one that steps
  int next_peer_ = 0;
  ScratchPool::Block source_copy_{};
};

/// The same by one transport.
template <typename Way>
class TaskBy final : public Task {
 public:
  using Task::Task;

  /// Continues a call that has begun at the same turn, before the start.
  void resume(Way begun, ScratchPool::Block scratch) noexcept {
    enter_cell();
    transport_ = std::move(begun);
    scratch_ = std::move(scratch);
    stage_ = Stage::begun;
  }
  [[nodiscard]] std::uint64_t moves() const noexcept override { return transport_.moves(); }

 private:
  bool begin() override {
    if (stage_ == Stage::begun) return step();
    enter_cell();
    prepare_source();
    stage_ = Stage::cell;
    bool is_over = advance();
    const int steps = arena_->oversubscribed() ? 1 : Way::steps_at_start;
    for (int i = 1; i < steps && stage_ == Stage::begun && !is_over; ++i) is_over = advance();
    if (is_over) finish();
    return is_over;
  }

  bool step() override {
    if (!advance()) {
      look_around();
      return false;
    }
    finish();
    return true;
  }

  bool advance() {
    if (stage_ == Stage::cell && !begin_in_cell()) return false;
    return transport_.step(exchange_);
  }

  bool begin_in_cell() {
    const bool waits = !persistent() || transport_.gives(exchange_);
    if (waits && !exchange_.is_free()) return false;
    exchange_.put_record();
    transport_.begin(exchange_, scratch(Way::scratch_bytes(exchange_)));
    stage_ = Stage::begun;
    return true;
  }

  void finish() {
    transport_.finish(exchange_);
    exchange_.finish();
    // Every rank has finished a start before it begins the next.
    if (persistent() && transport_.hears_all(exchange_))
      arena_->note_started(exchange_.number, exchange_.generation - 1);
    stage_ = Stage::idle;
  }

  Way transport_{};
};

}  // namespace tutti::detail::shm
