// SPDX-License-Identifier: BSD-3-Clause
#include "backends/staged/host_pieces.hpp"

#include "call/context.hpp"

namespace tutti::detail::staged {

HostPieces::HostPieces(ContextPtr context, const Plan& whole)
    : context_(std::move(context)),
      part_(whole.part),
      last_(whole.last_part),
      made_(whole.pieces),
      running_(whole.pieces) {
  // Places that executions own are few: not one for each piece.
  if (owns_place() && whole.pieces > 1) use_spare();
  places_.push_back(part_->backend->take_place(*context_, *part_));
  if (!places_[0].valid()) {
    use_spare();
    places_[0] = part_->backend->take_place(*context_, *part_);
  }
  while (places_.size() < whole.pieces) places_.push_back(part_->backend->take_place(*context_, *part_));
}

HostPieces::~HostPieces() {
  if (owns_place() && !made_[0]) part_->backend->give_back(*context_, places_[0]);
}

bool HostPieces::owns_place() const noexcept {
  return part_->signature.kind == CallKind::persistent && part_->backend->give_back != nullptr;
}

void HostPieces::use_spare() {
  last_ = last_->spare;
  part_ = part_->spare;
}

Execution& HostPieces::start(std::size_t piece, Binding binding) {
  if (!made_[piece]) {
    const PlanPtr& plan = piece + 1 == made_.size() ? last_ : part_;
    made_[piece] = plan->backend->make(context_, plan, std::move(binding), places_[piece], {});
  }
  running_[piece] = made_[piece].get();
  made_[piece]->start();
  return *made_[piece];
}

void HostPieces::finish(std::size_t piece) noexcept {
  running_[piece] = nullptr;
  if (owns_place())
    made_[piece]->acknowledge();
  else
    made_[piece].reset();
}

}  // namespace tutti::detail::staged
