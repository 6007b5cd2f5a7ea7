// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "call/backend.hpp"
#include "call/plan.hpp"
#include "operation/binding.hpp"

namespace tutti::detail::staged {

/// The executions in host memory of an operation's pieces. All their turns are taken at once, in the order of calls;
/// an execution is made when its piece has arrived.
class HostPieces {
 public:
  /// timeout: for turns for which ranks must ask one another.
  HostPieces(ContextPtr context, const Plan& whole, std::chrono::nanoseconds timeout);
  ~HostPieces();
  HostPieces(const HostPieces&) = delete;
  HostPieces& operator=(const HostPieces&) = delete;

  [[nodiscard]] const Plan& plan() const noexcept { return *part_; }
  /// Starts the execution of a piece; its binding uses the same memory at every start.
  Execution& start(std::size_t piece, Binding binding);
  /// The execution of a piece that has been started and not finished, or null.
  [[nodiscard]] Execution* find(std::size_t piece) const noexcept { return running_[piece]; }
  void finish(std::size_t piece) noexcept;

 private:
  /// True if an execution owns its turn until it is destroyed, so that it is kept from start to start.
  [[nodiscard]] bool owns_turn() const noexcept;
  void use_spare();

  ContextPtr context_;
  PlanPtr part_;
  PlanPtr last_;
  std::vector<Turn> turns_;
  std::vector<std::shared_ptr<Execution>> made_;
  std::vector<Execution*> running_;
};

}  // namespace tutti::detail::staged
