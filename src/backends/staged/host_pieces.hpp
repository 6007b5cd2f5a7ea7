// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backends/staged/pieces.hpp"
#include "call/execution.hpp"
#include "call/plan.hpp"

namespace tutti::detail::staged {

/// The executions in host memory of an operation's pieces. Their tags, or places in the order of shared memory, are
/// taken at once, in the order of calls; the executions are made when their piece is there.
class HostPieces {
 public:
  HostPieces(std::shared_ptr<CommState> comm, std::shared_ptr<const Plan> host, const Cut& cut, std::size_t total);
  ~HostPieces();
  HostPieces(const HostPieces&) = delete;
  HostPieces& operator=(const HostPieces&) = delete;

  [[nodiscard]] const Plan& plan() const noexcept { return *host_; }
  /// Starts the execution of a piece; the binding is one of the same memory at every start.
  Execution& start(std::size_t piece, Binding binding);
  /// The execution of a piece that was started and not finished, or null.
  [[nodiscard]] Execution* find(std::size_t piece) const noexcept { return running_[piece]; }
  void finish(std::size_t piece) noexcept;

 private:
  [[nodiscard]] std::unique_ptr<Execution> make(std::size_t piece, Binding binding);

  std::shared_ptr<CommState> comm_;
  std::shared_ptr<const Plan> host_;
  std::shared_ptr<const Plan> last_;  ///< of the shorter last piece
  std::vector<int> tags_;
  std::vector<std::uint64_t> places_;
  int cell_ = -1;  ///< of a persistent operation in shared memory, until its execution has it
  std::vector<std::unique_ptr<Execution>> made_;
  std::vector<Execution*> running_;
};

}  // namespace tutti::detail::staged
