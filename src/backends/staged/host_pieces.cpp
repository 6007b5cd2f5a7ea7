// SPDX-License-Identifier: BSD-3-Clause
#include "backends/staged/host_pieces.hpp"

#include "backends/mpi/bound_schedule.hpp"
#include "backends/mpi/schedule_execution.hpp"
#include "backends/shm/shm_execution.hpp"
#include "communicator/comm_state.hpp"
#include "planner/planner.hpp"

namespace tutti::detail::staged {
namespace {

/// The same call over messages.
std::shared_ptr<const Plan> over_messages(const CommState& comm, const Plan& plan) {
  Signature signature = plan.signature;
  signature.algorithm = "mpi";
  return make_plan(signature, machine_of(comm));
}

}  // namespace

HostPieces::HostPieces(std::shared_ptr<CommState> comm, std::shared_ptr<const Plan> host, const Cut& cut,
                       std::size_t total)
    : comm_(std::move(comm)), host_(std::move(host)), made_(cut.pieces), running_(cut.pieces) {
  const bool persistent = host_->signature.kind == CallKind::persistent;
  if (persistent && host_->backend == Backend::shm) {
    if (cut.pieces == 1) cell_ = comm_->arena->acquire_persistent(comm_->collective);
    // More pieces, or more operations, than cells.
    if (cell_ < 0) host_ = over_messages(*comm_, *host_);
  }
  const Range last = range_of(cut, total, cut.pieces - 1);
  last_ = last.count == host_->signature.count || cut.pieces == 1 ? host_ : with_count(*comm_, *host_, last.count);
  if (cell_ >= 0) return;
  for (std::size_t i = 0; i < cut.pieces; ++i) {
    if (host_->backend == Backend::shm)
      places_.push_back(comm_->arena->next_ordered());
    else
      tags_.push_back(persistent ? comm_->next_persistent_tag() : comm_->next_tag());
  }
}

HostPieces::~HostPieces() {
  if (cell_ >= 0) comm_->arena->release_persistent(cell_);
}

std::unique_ptr<Execution> HostPieces::make(std::size_t piece, Binding binding) {
  const auto& plan = piece + 1 == made_.size() ? last_ : host_;
  constexpr std::chrono::nanoseconds none{0};
  if (plan->backend != Backend::shm)
    return std::make_unique<ScheduleExecution>(comm_, plan, std::move(binding), tags_[piece], none);
  const int cell = places_.empty() ? cell_ : ShmExecution::ordered;
  auto made = std::make_unique<ShmExecution>(comm_, plan, std::move(binding), cell, none);
  if (places_.empty())
    cell_ = -1;
  else
    made->take_place(places_[piece]);
  return made;
}

Execution& HostPieces::start(std::size_t piece, Binding binding) {
  if (!made_[piece]) made_[piece] = make(piece, std::move(binding));
  running_[piece] = made_[piece].get();
  made_[piece]->start();
  return *made_[piece];
}

void HostPieces::finish(std::size_t piece) noexcept {
  running_[piece] = nullptr;
  const bool owns_cell = tags_.empty() && places_.empty();
  if (owns_cell)
    made_[piece]->acknowledge();
  else
    made_[piece].reset();
}

}  // namespace tutti::detail::staged
