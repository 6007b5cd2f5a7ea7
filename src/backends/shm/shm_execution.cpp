// SPDX-License-Identifier: BSD-3-Clause
#include "backends/shm/shm_execution.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "call/deferred_free.hpp"
#include "call/shape.hpp"
#include "communicator/comm_state.hpp"
#include "core/mpi_call.hpp"
#include "kernels/combine.hpp"
#include "schedules/registry.hpp"

namespace tutti::detail {

using shm::Protocol;

ShmExecution::ShmExecution(std::shared_ptr<CommState> comm_state, std::shared_ptr<const Plan> plan, Binding binding,
                           int cell, std::chrono::nanoseconds timeout)
    : Execution(std::move(comm_state), timeout, plan->signature.kind == CallKind::persistent),
      plan_(std::move(plan)),
      binding_(std::move(binding)),
      arena_(comm().arena.get()),
      persistent_cell_(cell) {}

ShmExecution::~ShmExecution() {
  if (persistent_cell_ != ordered) arena_->release_persistent(persistent_cell_);
  if (source_copy_.bytes != 0) comm().scratch.release(std::move(source_copy_));
  if (scratch_.bytes != 0) comm().scratch.release(std::move(scratch_));
}

std::string ShmExecution::name() const {
  std::string name(schedules::operation_name(plan_->signature.operation));
  return name.append(" (shm:").append(shm::protocol_name(plan_->protocol)).append(")");
}

bool ShmExecution::begin() {
  exchange_.arena = arena_;
  exchange_.plan = plan_.get();
  exchange_.binding = &binding_;
  take_cell();
  prepare_source();
  stage_ = Stage::cell;
  own_copied_ = false;
  if (begun_ != none) {
    stage_ = plan_->protocol == Protocol::line ? Stage::lines : Stage::slots;
    begun_ = none;
  }
  return step();
}

void ShmExecution::take_cell() {
  if (begun_ != none) {
    ordered_ = begun_;
    exchange_.number = static_cast<int>(ordered_ % shm::ordered_cells);
    exchange_.generation = ordered_ + 1;
    return;
  }
  if (persistent_cell_ != ordered) {
    exchange_.generation = arena_->next_generation(persistent_cell_);
    exchange_.number = persistent_cell_ + static_cast<int>(exchange_.generation % shm::starts_apart);
    return;
  }
  ordered_ = reserved_ != none ? reserved_ : arena_->next_ordered();
  exchange_.number = static_cast<int>(ordered_ % shm::ordered_cells);
  exchange_.generation = ordered_ + 1;
}

bool ShmExecution::is_cell_free() const {
  if (persistent_cell_ == ordered) return arena_->is_free(ordered_);
  for (int r = 0; r < arena_->size(); ++r)
    if (exchange_.cell(r).progress.done.load(std::memory_order_acquire) + shm::starts_apart < exchange_.generation)
      return false;
  return true;
}

void ShmExecution::prepare_source() {
  const Operation operation = plan_->signature.operation;
  const void* source = operation == Operation::bcast ? binding_.output : binding_.input;
  exchange_.source = static_cast<const std::byte*>(source);
  const bool scales = binding_.op.kind() == ReduceKind::premul_sum;
  bool overlaps = false;
  if (binding_.in_place) {
    // What a rank writes here others may still have to read.
    const bool rotates = operation == Operation::alltoall || operation == Operation::alltoallv;
    overlaps = operation == Operation::reduce_scatter || operation == Operation::reduce_scatter_block ||
               (rotates && (plan_->protocol == Protocol::single_copy || plan_->protocol == Protocol::automatic));
  }
  if ((!scales && !overlaps) || source == nullptr) return;
  const std::size_t unit = plan_->signature.type.size();
  const std::size_t count = input_count(operation, arena_->size(), plan_->signature.count, binding_);
  if (count == 0) return;
  if (source_copy_.bytes == 0) source_copy_ = comm().scratch.acquire(count * unit);
  if (scales)
    kernels::scale_copy(plan_->signature.type, source, source_copy_.data(), count, binding_.op.scalar());
  else
    std::memcpy(source_copy_.data(), source, count * unit);
  exchange_.source = source_copy_.data();
}

void ShmExecution::publish() {
  const shm::Geometry who = exchange_.geometry();
  const std::size_t unit = exchange_.unit();
  switch (plan_->protocol) {
    case Protocol::line:
      lines_.begin(exchange_);
      stage_ = Stage::lines;
      break;
    case Protocol::slots:
      slots_.begin(exchange_, shm::largest_block(exchange_));
      stage_ = Stage::slots;
      break;
    case Protocol::single_copy:
      single_copy_.describe(exchange_);
      stage_ = Stage::single_copy;
      exchange_.publish(1);
      break;
    case Protocol::automatic: {
      const std::size_t largest = who.largest_given() * unit;
      exchange_.descriptor(arena_->rank()).largest = largest;
      single_copy_.describe(exchange_);
      stage_ = Stage::largest;
      slots_.announce(exchange_, largest);
      break;
    }
  }
  if (stage_ == Stage::single_copy) {
    if (scratch_.bytes == 0) scratch_ = comm().scratch.acquire(shm::SingleCopy::scratch_bytes(exchange_));
    single_copy_.begin(exchange_, scratch_.data());
  }
}

bool ShmExecution::choose() {
  std::size_t largest = 0;
  for (int r = 0; r < arena_->size(); ++r) {
    if (exchange_.published(r) == 0) return false;
    largest = std::max<std::size_t>(largest, exchange_.descriptor(r).largest);
  }
  if (!shm::Slots::fits(exchange_, largest) && arena_->single_copy()) {
    single_copy_.begin(exchange_, nullptr);
    stage_ = Stage::single_copy;
    return true;
  }
  slots_.resume(exchange_, largest);
  stage_ = Stage::slots;
  return true;
}

bool ShmExecution::step() {
  if (go_on()) {
    finish();
    return true;
  }
  poll_mpi();
  return false;
}

bool ShmExecution::go_on() {
  if (stage_ == Stage::cell) {
    if (!is_cell_free()) return false;
    publish();
  }
  if (stage_ == Stage::largest && !choose()) return false;
  if (stage_ == Stage::single_copy) {
    const bool is_blocking = plan_->signature.kind == CallKind::blocking;
    return single_copy_.step(exchange_, is_blocking ? std::numeric_limits<std::size_t>::max() : 1);
  }
  if (stage_ == Stage::lines) return lines_.step(exchange_);
  if (!own_copied_ && !exchange_.geometry().combines()) {
    exchange_.copy_own();
    own_copied_ = true;
  }
  return slots_.step(exchange_);
}

void ShmExecution::finish() {
  if (persistent_cell_ == ordered)
    arena_->complete(ordered_);
  else
    exchange_.cell(arena_->rank()).progress.done.store(exchange_.generation, std::memory_order_release);
  arena_->wake();
}

void ShmExecution::poll_mpi() {
  // A peer may be inside the host MPI, waiting for what only this rank's progress there can send.
  constexpr std::uint32_t polls = 64;
  if (++idle_ % polls != 0) return;
  int found = 0;
  check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm().collective, &found, MPI_STATUS_IGNORE), "MPI_Iprobe");
}

void ShmExecution::cancel() noexcept {
  // Peers may still copy from and to them.
  defer_free(std::exchange(source_copy_, {}));
  defer_free(std::exchange(scratch_, {}));
}

bool run_at_once(CommState& comm, const Plan& plan, const Binding& binding, ShmProgress& begun) {
  shm::Arena& arena = *comm.arena;
  const bool is_short = plan.protocol == Protocol::line || plan.protocol == Protocol::slots;
  if (!is_short || binding.in_place || plan.signature.op == ReduceKind::premul_sum || !arena.is_next_free())
    return false;
  shm::Exchange exchange;
  exchange.arena = &arena;
  exchange.plan = &plan;
  exchange.binding = &binding;
  exchange.source =
      static_cast<const std::byte*>(plan.signature.operation == Operation::bcast ? binding.output : binding.input);
  begun.ordered = arena.next_ordered();
  exchange.number = static_cast<int>(begun.ordered % shm::ordered_cells);
  exchange.generation = begun.ordered + 1;
  const bool is_line = plan.protocol == Protocol::line;
  if (is_line)
    begun.lines.begin(exchange);
  else
    begun.slots.begin(exchange, shm::largest_block(exchange));
  constexpr int polls = 200;
  const int most = comm.topology.oversubscribed ? 1 : polls;
  for (int i = 0; i < most; ++i) {
    if (!(is_line ? begun.lines.step(exchange) : begun.slots.step(exchange))) continue;
    if (!is_line && !schedules::combines(plan.signature.operation)) exchange.copy_own();
    arena.complete(begun.ordered);
    arena.prepare_next();
    return true;
  }
  return false;
}

}  // namespace tutti::detail
