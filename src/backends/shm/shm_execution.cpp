// SPDX-License-Identifier: BSD-3-Clause
#include "backends/shm/shm_execution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "backends/shm/agreement.hpp"
#include "backends/shm/short_way.hpp"
#include "backends/shm/waiting.hpp"
#include "call/context.hpp"
#include "call/deferred_free.hpp"
#include "core/mpi_call.hpp"
#include "core/progress_hook.hpp"
#include "kernels/combine.hpp"
#include "operation/shape.hpp"

namespace tutti::detail {

using shm::Protocol;

ShmExecution::ShmExecution(ContextPtr context, PlanPtr plan, Binding&& binding, Turn turn,
                           std::chrono::nanoseconds timeout)
    : Execution(std::move(context), timeout, plan->signature.kind == CallKind::persistent),
      plan_(std::move(plan)),
      binding_(std::move(binding)),
      arena_(&shm::arena_of(comm())),
      turn_(turn) {}

ShmExecution::~ShmExecution() {
  if (persistent()) arena_->release_persistent(static_cast<int>(turn_.number));
  if (source_copy_.bytes != 0) comm().scratch.release(std::move(source_copy_));
  if (scratch_.bytes != 0) comm().scratch.release(std::move(scratch_));
}

std::string ShmExecution::name() const {
  std::string name(operation_name(plan_->signature.operation));
  return name.append(" (shm:").append(shm::protocol_name(protocol())).append(")");
}

bool ShmExecution::goes_on_inside_mpi() const noexcept { return comm().progress_hook; }

std::uint64_t ShmExecution::moves() const noexcept { return slots_.moves() + single_copy_.moves() + parts_.moves(); }

template <typename Transport>
void ShmExecution::go_on(Transport& own, Transport begun, Stage stage) noexcept {
  enter_cell();
  own = std::move(begun);
  stage_ = stage;
}

void ShmExecution::resume(shm::Lines begun) noexcept { go_on(lines_, begun, Stage::lines); }
void ShmExecution::resume(shm::Slots begun) noexcept { go_on(slots_, begun, Stage::slots); }
void ShmExecution::resume(shm::SingleCopy begun, ScratchPool::Block scratch) noexcept {
  scratch_ = std::move(scratch);
  go_on(single_copy_, std::move(begun), Stage::single_copy);
}
void ShmExecution::resume(shm::Parts begun) noexcept { go_on(parts_, begun, Stage::parts); }
void ShmExecution::resume(shm::Tree begun) noexcept { go_on(tree_, begun, Stage::tree); }

bool ShmExecution::begin() {
  if (stage_ != Stage::idle) return step();  // that of a call which the short way has begun
  enter_cell();
  prepare_source();
  stage_ = Stage::cell;
  bool is_over = advance();
  const int steps = arena_->oversubscribed() ? 1 : shm::steps_begun;
  for (int i = 1; i < steps && stage_ == Stage::lines && !is_over; ++i) is_over = advance();
  if (is_over) finish();
  return is_over;
}

void ShmExecution::enter_cell() {
  exchange_ = shm::Exchange::of(*arena_, *plan_, binding_);
  if (persistent())
    exchange_.use_persistent(turn_);
  else
    exchange_.use_ordered(turn_);
}

void ShmExecution::prepare_source() {
  const void* source = exchange_.source;
  const bool scales = binding_.op.kind() == ReduceKind::premul_sum;
  if (source == nullptr || (!scales && !exchange_.overwrites_source())) return;
  const Signature& signature = plan_->signature;
  const std::size_t unit = signature.type.size();
  const std::size_t count = exchange_.shape().input_end();
  if (count == 0) return;
  if (source_copy_.bytes == 0) source_copy_ = comm().scratch.acquire(count * unit);
  if (scales)
    kernels::scale_copy(signature.type, source, source_copy_.data(), count, binding_.op.scalar());
  else
    std::memcpy(source_copy_.data(), source, count * unit);
  exchange_.source = source_copy_.data();
}

/// Nobody looks at the cell of a rank that gives nothing.
bool ShmExecution::is_cell_free() {
  const bool gives = !persistent() || protocol() != Protocol::line || lines_.shape_of(exchange_).gives();
  return !gives || exchange_.is_free();
}

void ShmExecution::publish() {
  exchange_.put_record();
  switch (protocol()) {
    case Protocol::line:
      lines_.begin(exchange_);
      stage_ = Stage::lines;
      return;
    case Protocol::slots:
    case Protocol::stream:
    case Protocol::wide:
    case Protocol::uncached:
      slots_.begin(exchange_);
      stage_ = Stage::slots;
      return;
    case Protocol::single_copy:
      publish_buffers();
      stage_ = Stage::single_copy;
      return;
    case Protocol::parts:
      parts_.begin(exchange_);
      stage_ = Stage::parts;
      return;
    case Protocol::tree:
      tree_.begin(exchange_);
      stage_ = Stage::tree;
      return;
    case Protocol::automatic:
      single_copy_.describe(exchange_);
      slots_.announce(exchange_);
      stage_ = Stage::largest;
      return;
  }
}

void ShmExecution::publish_buffers() {
  single_copy_.describe(exchange_);
  exchange_.publish(1);
  if (scratch_.bytes == 0) scratch_ = comm().scratch.acquire(shm::SingleCopy::scratch_bytes(exchange_));
  single_copy_.begin(scratch_.data());
}

bool ShmExecution::choose() {
  std::size_t largest = 0;
  for (int r = 0; r < arena_->size(); ++r) {
    if (exchange_.published(r) == 0 || !exchange_.agrees(r)) return false;
    largest = std::max(largest, exchange_.largest_of(r));
  }
  if (!shm::Slots::fits(exchange_, largest) && arena_->direct_copy()) {
    single_copy_.begin(nullptr);
    stage_ = Stage::single_copy;
    return true;
  }
  slots_.resume(exchange_, largest);
  stage_ = Stage::slots;
  return true;
}

bool ShmExecution::step() {
  if (advance()) {
    finish();
    return true;
  }
  if (arena_->has_failed()) shm::throw_failure(*arena_, comm(), name());
  const std::uint32_t idle_steps = idle_steps_.load(std::memory_order_relaxed) + 1;
  idle_steps_.store(idle_steps, std::memory_order_relaxed);
  if (idle_steps % steps_per_look != 0) return false;
  if (stage_ != Stage::cell) check_next_peer();
  shm::look_into_mpi(comm());
  return false;
}

void ShmExecution::check_next_peer() {
  next_peer_ = (next_peer_ + 1) % arena_->size();
  if (next_peer_ == arena_->rank()) next_peer_ = (next_peer_ + 1) % arena_->size();
  shm::Record mine{};
  exchange_.describe(mine);
  shm::check_agreement(exchange_, mine, next_peer_, [this] { return name() + ", " + comm().describe(); });
}

bool ShmExecution::advance() {
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
  if (stage_ == Stage::parts) {
    if (!parts_.step(exchange_)) return false;
    parts_.finish(exchange_);
    return true;
  }
  if (stage_ == Stage::tree) return tree_.step(exchange_);
  if (!slots_.step(exchange_)) return false;
  slots_.finish(exchange_);
  return true;
}

void ShmExecution::finish() {
  exchange_.finish();
  // Every rank has finished a start before it begins the next.
  if (persistent() && stage_ == Stage::lines && lines_.shape_of(exchange_).hears_all(arena_->size()))
    arena_->note_started(exchange_.number, exchange_.generation - 1);
  stage_ = Stage::idle;
}

void ShmExecution::cancel() noexcept {
  // Peers may still copy from and to the buffers.
  defer_free(std::exchange(source_copy_, {}));
  defer_free(std::exchange(scratch_, {}));
}

}  // namespace tutti::detail
