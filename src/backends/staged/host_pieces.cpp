// SPDX-License-Identifier: BSD-3-Clause
#include "backends/staged/host_pieces.hpp"

#include "call/context.hpp"
#include "call/execution.hpp"
#include "call/plan.hpp"

namespace tutti::detail::staged {

HostPieces::HostPieces(ContextPtr context, const Plan& whole, std::chrono::nanoseconds timeout)
    : context_(std::move(context)),
      part_(whole.part),
      last_(whole.last_part),
      made_(whole.pieces),
      running_(whole.pieces) {
  // Turns that executions own are few: not one for each piece.
  if (owns_turn() && whole.pieces > 1) use_spare();
  const auto take = [&] { return part_->backend->take_turn(*context_, *part_, timeout); };
  turns_.push_back(take());
  if (!turns_[0].valid()) {
    use_spare();
    turns_[0] = take();
  }
  while (turns_.size() < whole.pieces) turns_.push_back(take());
}

HostPieces::~HostPieces() {
  if (owns_turn() && !made_[0]) context_->state_of(*part_->backend)->give_back(turns_[0]);
}

bool HostPieces::owns_turn() const noexcept { return part_->spare != nullptr; }

void HostPieces::use_spare() {
  last_ = last_->spare;
  part_ = part_->spare;
}

Execution& HostPieces::start(std::size_t piece, Binding binding) {
  if (!made_[piece]) {
    const PlanPtr& plan = piece + 1 == made_.size() ? last_ : part_;
    made_[piece] = plan->make(context_, plan, std::move(binding), &turns_[piece], {});
  }
  running_[piece] = made_[piece].get();
  made_[piece]->start();
  return *made_[piece];
}

void HostPieces::finish(std::size_t piece) noexcept {
  running_[piece] = nullptr;
  if (owns_turn())
    made_[piece]->acknowledge();
  else
    made_[piece].reset();
}

}  // namespace tutti::detail::staged
