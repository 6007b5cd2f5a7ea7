// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "backends/shm/exchange.hpp"
#include "backends/shm/single_copy.hpp"
#include "backends/shm/slots.hpp"
#include "communicator/execution.hpp"
#include "communicator/scratch.hpp"

namespace tutti::detail {

/// Runs an operation over the shared memory of a node.
class ShmExecution final : public Execution {
 public:
  static constexpr int ordered = -1;
  /// cell: that of a persistent operation, or `ordered`.
  ShmExecution(const std::shared_ptr<CommState>& comm, std::shared_ptr<const Plan> plan, Binding binding, int cell,
               std::chrono::nanoseconds timeout);
  ~ShmExecution() override;

  [[nodiscard]] std::string name() const override;
  void announce_nap() noexcept override { arena_->announce_sleep(); }
  void nap() noexcept override { arena_->sleep(); }

 private:
  enum class Stage : std::uint8_t { cell, largest, slots, single_copy };

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
  void look_at_mpi();

  std::shared_ptr<const Plan> plan_;
  Binding binding_;
  shm::Arena* arena_;
  shm::Exchange exchange_{};
  Stage stage_ = Stage::cell;
  bool own_copied_ = false;
  std::uint64_t ordered_ = 0;
  int persistent_cell_;
  std::uint32_t idle_ = 0;
  shm::Slots slots_{};
  shm::SingleCopy single_copy_{};
  ScratchPool::Block source_copy_{};
  ScratchPool::Block scratch_{};
};

}  // namespace tutti::detail
