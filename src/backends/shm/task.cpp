// SPDX-License-Identifier: BSD-3-Clause
#include "backends/shm/task.hpp"

#include <cstring>
#include <utility>

#include "backends/shm/agreement.hpp"
#include "call/context.hpp"
#include "call/deferred_free.hpp"
#include "core/progress_hook.hpp"
#include "kernels/combine.hpp"
#include "kernels/copy.hpp"

namespace tutti::detail::shm {

Task::Task(ContextPtr context, PlanPtr plan, Binding&& binding, const Turn& turn, std::chrono::nanoseconds timeout)
    : Execution(std::move(context), timeout, plan->signature.kind == CallKind::persistent),
      plan_(std::move(plan)),
      binding_(std::move(binding)),
      arena_(&arena_of(comm())),
      turn_(turn) {}

Task::~Task() {
  if (persistent()) arena_->give_back(turn_);
  comm().scratch.release(std::move(source_copy_));
  comm().scratch.release(std::move(scratch_));
}

std::string Task::name() const {
  std::string name(operation_name(plan_->signature.operation));
  return name.append(" (shm:").append(protocol_name(static_cast<Protocol>(plan_->protocol))).append(")");
}

bool Task::goes_on_inside_mpi() const noexcept { return comm().progress_hook; }

void Task::enter_cell() {
  exchange_ = Exchange::of(*arena_, *plan_, binding_);
  if (persistent())
    exchange_.use_persistent(turn_);
  else
    exchange_.use_ordered(turn_);
}

void Task::prepare_source() {
  const void* source = exchange_.source;
  const bool scales = binding_.op.kind() == ReduceKind::premul_sum;
  if (source == nullptr || (!scales && !exchange_.overwrites_source())) return;
  const Signature& signature = plan_->signature;
  const std::size_t unit = signature.type.size();
  const bool has_blocks = signature.operation == Operation::alltoallv;
  const bool is_first = source_copy_.bytes == 0;
  const std::size_t count = has_blocks && is_first ? binding_.send_copy() : exchange_.shape().input_end();
  if (count == 0) return;
  if (is_first) source_copy_ = comm().scratch.acquire(count * unit);
  if (has_blocks)
    binding_.copy_sent(unit, source_copy_.data());
  else if (scales)
    kernels::scale_copy(signature.type, source, source_copy_.data(), count, binding_.op.scalar());
  else
    kernels::copy(source_copy_.data(), source, count * unit);
  exchange_.source = source_copy_.data();
}

std::byte* Task::scratch(std::size_t bytes) {
  if (scratch_.bytes == 0) scratch_ = comm().scratch.acquire(bytes);
  return scratch_.data();
}

void Task::look_around() {
  if (arena_->has_failed()) arena_->throw_failure(comm(), name());
  const std::uint32_t idle_steps = idle_steps_.load(std::memory_order_relaxed) + 1;
  idle_steps_.store(idle_steps, std::memory_order_relaxed);
  if (idle_steps % steps_per_look != 0) return;
  if (stage_ != Stage::cell) check_next_peer();
  // A peer may need this rank there, to send its data or to give access to its window.
  progress_hook::look_into_mpi(comm().point_to_point);
}

void Task::check_next_peer() {
  next_peer_ = (next_peer_ + 1) % arena_->size();
  if (next_peer_ == arena_->rank()) next_peer_ = (next_peer_ + 1) % arena_->size();
  Record mine{};
  exchange_.describe(mine);
  check_agreement(exchange_, mine, next_peer_, [this] { return name() + ", " + comm().describe(); });
}

void Task::cancel() noexcept {
  // Peers may still copy from and to the buffers.
  defer_free(std::exchange(source_copy_, {}));
  defer_free(std::exchange(scratch_, {}));
}

}  // namespace tutti::detail::shm
