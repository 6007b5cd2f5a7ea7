// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "backends/shm/line_shape.hpp"
#include "call/backend.hpp"

namespace tutti::detail::shm {

/// A call by `line` that is repeated: as run_short_way() and begin_short_way(), but its shape is known.
class ReadyLines final : public ReadyCall {
 public:
  /// Null if the plan is not by lines, or the call needs a copy of its input.
  [[nodiscard]] static std::unique_ptr<ReadyCall> make(Context& context, const Plan& plan, const Binding& binding);

  void run(const ContextPtr& context, const PlanPtr& plan, Binding&& binding, const CallOptions& options) override;
  std::shared_ptr<Execution> begin(const ContextPtr& context, const PlanPtr& plan, Binding&& binding,
                                   const CallOptions& options) override;

 private:
  explicit ReadyLines(const Exchange& exchange) : arena_(*exchange.arena), shape_(exchange) {}
  /// Runs a call that has taken its turn. Returns false after `looks` looks; `place` then says where to resume.
  [[nodiscard]] bool make_way(const Plan& plan, const Binding& binding, const Turn& turn, const flight::Note& its_note,
                              LineShape::Place& place, int looks);

  Arena& arena_;
  LineShape shape_;
};

}  // namespace tutti::detail::shm
