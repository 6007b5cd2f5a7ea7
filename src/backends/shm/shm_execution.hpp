// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "backends/shm/exchange.hpp"
#include "backends/shm/lines.hpp"
#include "backends/shm/single_copy.hpp"
#include "backends/shm/slots.hpp"
#include "call/execution.hpp"
#include "call/scratch.hpp"

namespace tutti::detail {

/// How far the short way of a call came.
struct ShmProgress {
  static constexpr std::uint64_t none = ~std::uint64_t{0};
  std::uint64_t ordered = none;  ///< number of the operation; none: it has not begun
  shm::Lines lines;
  shm::Slots slots;
};

/// Runs an operation over the shared memory of a node.
class ShmExecution final : public Execution {
 public:
  static constexpr int ordered = -1;
  /// cell: that of a persistent operation, or `ordered`.
  ShmExecution(std::shared_ptr<CommState> comm, std::shared_ptr<const Plan> plan, Binding binding, int cell,
               std::chrono::nanoseconds timeout);
  ~ShmExecution() override;

  /// Goes on with an operation that run_at_once() began.
  void resume(const ShmProgress& begun) noexcept {
    begun_ = begun.ordered;
    lines_ = begun.lines;
    slots_ = begun.slots;
  }

  /// Takes the place in the order of operations that Arena::next_ordered() gave the caller, instead of the next one at
  /// the start. It must be started: later operations can pass it by no more than the cells of the ring.
  void take_place(std::uint64_t number) noexcept { reserved_ = number; }

  [[nodiscard]] std::string name() const override;
  void announce_backoff() noexcept override { arena_->announce_sleep(); }
  void backoff() noexcept override { arena_->sleep(); }

 private:
  static constexpr std::uint64_t none = ShmProgress::none;
  enum class Stage : std::uint8_t { cell, largest, lines, slots, single_copy };

  bool begin() override;
  bool step() override;
  void cancel() noexcept override;

  void take_cell();
  [[nodiscard]] bool is_cell_free() const;
  void prepare_source();
  void publish();
  [[nodiscard]] bool choose();
  [[nodiscard]] bool go_on();
  void finish();
  void poll_mpi();

  std::shared_ptr<const Plan> plan_;
  Binding binding_;
  shm::Arena* arena_;
  shm::Exchange exchange_{};
  Stage stage_ = Stage::cell;
  bool own_copied_ = false;
  std::uint64_t ordered_ = 0;
  std::uint64_t begun_ = none;
  std::uint64_t reserved_ = none;
  int persistent_cell_;
  std::uint32_t idle_ = 0;
  shm::Lines lines_{};
  shm::Slots slots_{};
  shm::SingleCopy single_copy_{};
  ScratchPool::Block source_copy_{};
  ScratchPool::Block scratch_{};
};

/// The short way of a blocking call: true when it is done; else, if it has begun, an execution resumes it.
[[nodiscard]] bool run_at_once(CommState& comm, const Plan& plan, const Binding& binding, ShmProgress& begun);

}  // namespace tutti::detail
