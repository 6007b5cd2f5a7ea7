// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <tutti/request.hpp>

#include "call/context.hpp"
#include "call/execution.hpp"
#include "collectives/exact/short_sums.hpp"

namespace tutti::detail {

/// A persistent exact sum that begins with short forms. Both messages are persistent calls, so that the second one,
/// which few sums need, has its place among the calls of all ranks.
class ShortExecution final : public Execution {
 public:
  /// gather: of the blocks of `sums`. in_full: takes the sums of this rank from `sums`, and hands out the totals.
  ShortExecution(ContextPtr comm, std::shared_ptr<ShortSums> sums, const Request& gather, const Request& in_full);

  [[nodiscard]] std::string name() const override { return running_->name(); }
  void announce_backoff() noexcept override { running_->announce_backoff(); }
  void backoff() noexcept override { running_->backoff(); }
  [[nodiscard]] bool goes_on_inside_mpi() const noexcept override {
    return gather_->goes_on_inside_mpi() && in_full_->goes_on_inside_mpi();
  }

 private:
  bool begin() override;
  bool step() override;
  void cancel() noexcept override;
  [[nodiscard]] bool run(const std::shared_ptr<Execution>& execution);
  [[nodiscard]] bool end();

  std::shared_ptr<ShortSums> sums_;
  std::shared_ptr<Execution> gather_;
  std::shared_ptr<Execution> in_full_;
  std::shared_ptr<Execution> running_;
};

}  // namespace tutti::detail
