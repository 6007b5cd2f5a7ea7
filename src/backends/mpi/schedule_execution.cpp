// SPDX-License-Identifier: BSD-3-Clause
#include "backends/mpi/schedule_execution.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "backends/mpi/message.hpp"
#include "call/context.hpp"
#include "call/deferred_free.hpp"
#include "call/node_call.hpp"
#include "call/schedule_rules.hpp"
#include "kernels/combine.hpp"
#include "kernels/copy.hpp"
#include "operation/shape.hpp"
#include "schedules/problem.hpp"

namespace tutti::detail {

using schedules::BufferName;
using schedules::Local;
using schedules::Slice;
using schedules::Transfer;

ScheduleExecution::ScheduleExecution(std::shared_ptr<Context> comm_state, std::shared_ptr<const Plan> plan,
                                     Binding binding, int tag, std::chrono::nanoseconds timeout)
    : Execution(std::move(comm_state), timeout, plan->signature.kind == CallKind::persistent),
      plan_(std::move(plan)),
      binding_(std::move(binding)),
      tag_(tag),
      unit_(plan_->signature.type.size()),
      moments_(RoundMoments::of(this->comm())) {
  if (has_blocks_in_place()) (void)binding_.send_copy();
  if (!plan_->algorithm->tells_counts) make_schedule({});
  comm().need_messages();
}

ScheduleExecution::~ScheduleExecution() {
  comm().scratch.release(std::move(scratch_));
  comm().scratch.release(std::move(input_copy_));
}

void ScheduleExecution::make_schedule(std::span<const std::size_t> told) {
  schedule_ = bound_schedule(comm(), *plan_, binding_, told);
  reserve();
  scratch_ = comm().scratch.acquire(schedule_->scratch_count * unit_);
}

// The rows of all ranks of the node. Only blocking calls do this: nobody else waits for this step.
std::vector<std::size_t> ScheduleExecution::tell_counts() {
  const Signature& s = plan_->signature;
  std::vector<std::size_t> row =
      schedules::told_row(s.operation, problem_of(comm().rank, comm().size, s.root, s.count, binding_));
  const ContextPtr& node = comm().node;
  if (!node) return row;
  Signature telling;
  telling.operation = Operation::allgather;
  telling.type = DatatypeOf<std::uint64_t>::value;
  telling.has_timeout = s.has_timeout;
  telling.count = row.size();
  std::vector<std::size_t> all(row.size() * static_cast<std::size_t>(node->size));
  Binding part;
  part.input = row.data();
  part.output = all.data();
  const PlanPtr plan = node->plan_on_node(telling);
  run_plan(node, plan, std::move(part), {.timeout = time_left()});
  return all;
}

// Other ranks wait for the messages of all rounds, so that no step may end for want of memory.
void ScheduleExecution::reserve() {
  std::size_t transfers = 0;
  std::size_t inputs = 0;
  for (const auto& round : schedule_->rounds) {
    transfers = std::max(transfers, round.transfers.size());
    for (const Local& local : round.locals) inputs = std::max(inputs, local.inputs.size());
  }
  requests_.reserve(transfers);
  if (inputs > most_on_stack) many_inputs_.resize(inputs);
}

std::string ScheduleExecution::name() const {
  std::string text(operation_name(plan_->signature.operation));
  return text.append(" (").append(plan_->algorithm->name).append(")");
}

bool ScheduleExecution::goes_on_inside_mpi() const noexcept { return comm().progress_hook; }

bool ScheduleExecution::begin() {
  if (!schedule_) make_schedule(tell_counts());
  prepare_input();
  round_ = 0;
  if (moments_ != nullptr) moments_->begin();
  if (schedule_->rounds.empty()) {
    finish_result();
    return true;
  }
  posted_ = false;
  // A round without transfers, or a small message that is already here, needs no second call.
  return step();
}

bool ScheduleExecution::step() {
  if (!posted_) {
    if (comm().size > 1 && !comm().messages.ready()) return false;
    post_round();
    posted_ = true;
  }
  while (true) {
    for (; next_ < requests_.size(); ++next_) {
      MPI_Status status;
      if (!test_request(requests_[next_], status, "MPI_Test")) return false;
    }
    do_locals();
    if (moments_ != nullptr) moments_->end_round();
    if (++round_ == schedule_->rounds.size()) {
      requests_.clear();
      finish_result();
      return true;
    }
    post_round();
  }
}

void ScheduleExecution::cancel() noexcept {
  if (requests_.empty()) return;
  const auto& transfers = schedule_->rounds[round_].transfers;
  for (std::size_t i = 0; i < requests_.size(); ++i)
    drop_request(requests_[i], transfers[i].kind == Transfer::Kind::recv);
  requests_.clear();
  defer_free(std::exchange(scratch_, {}));
  defer_free(std::exchange(input_copy_, {}));
}

void ScheduleExecution::prepare_input() {
  input_ = binding_.input;
  const bool scales = binding_.op.kind() == ReduceKind::premul_sum && binding_.input != nullptr;
  const bool has_blocks = has_blocks_in_place();
  const bool saves = has_blocks || (binding_.in_place && !schedule_->alias_safe);
  if (!scales && !saves) return;
  const std::size_t count = shape().input_end();
  if (count == 0 || binding_.input == nullptr) return;
  if (input_copy_.bytes == 0) input_copy_ = comm().scratch.acquire(count * unit_);
  if (has_blocks)
    binding_.copy_sent(unit_, input_copy_.data());
  else if (scales)
    kernels::scale_copy(plan_->signature.type, binding_.input, input_copy_.data(), count, binding_.op.scalar());
  else
    kernels::copy(input_copy_.data(), binding_.input, count * unit_);
  input_ = input_copy_.data();
}

void ScheduleExecution::post_round() {
  const auto& transfers = schedule_->rounds[round_].transfers;
  requests_.assign(transfers.size(), MPI_REQUEST_NULL);
  next_ = 0;
  // Posts receives first, because a message that finds its buffer is not copied twice. Keeps the order per peer and
  // direction.
  for (std::size_t i = 0; i < transfers.size(); ++i)
    if (transfers[i].kind == Transfer::Kind::recv)
      post_recv(write_address(transfers[i].slice), transfers[i].slice.count * unit_, transfers[i].peer, tag_,
                comm().messages.get(), requests_[i]);
  for (std::size_t i = 0; i < transfers.size(); ++i)
    if (transfers[i].kind == Transfer::Kind::send)
      post_send(read_address(transfers[i].slice), transfers[i].slice.count * unit_, transfers[i].peer, tag_,
                comm().messages.get(), requests_[i]);
  // Beside the messages. Only blocking calls have exchanges, so nobody else waits for this step.
  if (schedule_->rounds[round_].exchange) do_exchange(*schedule_->rounds[round_].exchange);
}

void ScheduleExecution::do_exchange(const schedules::Exchange& exchange) {
  const ContextPtr& node = comm().node;
  const int place = node->rank;
  const Signature signature = node_signature(exchange, plan_->signature);
  Binding part = node_binding(exchange, place, uses_input(exchange, place) ? read_address(exchange.input) : nullptr,
                              uses_output(exchange, place) ? write_address(exchange.output) : nullptr, unit_);
  part.op = signature.op == plan_->signature.op ? binding_.op : ReduceOp(signature.op);
  const PlanPtr plan = node->plan_on_node(signature);
  run_plan(node, plan, std::move(part), {.timeout = time_left()});
}

void ScheduleExecution::do_locals() {
  for (const Local& local : schedule_->rounds[round_].locals) {
    if (local.output.count == 0) continue;
    if (local.kind == Local::Kind::reduce) {
      reduce(local);
      continue;
    }
    const std::byte* from = read_address(local.inputs.front());
    std::byte* to = write_address(local.output);
    if (from != to) std::memmove(to, from, local.output.count * unit_);
  }
}

void ScheduleExecution::reduce(const Local& local) {
  const void* on_stack[most_on_stack];
  const void** inputs = local.inputs.size() > most_on_stack ? many_inputs_.data() : on_stack;
  for (std::size_t i = 0; i < local.inputs.size(); ++i) inputs[i] = read_address(local.inputs[i]);
  const std::span<const void* const> all(inputs, local.inputs.size());
  const Signature& s = plan_->signature;
  const bool divides = s.op == ReduceKind::avg && plan_->algorithm->single_combine;
  const std::size_t divisor = divides ? static_cast<std::size_t>(comm().size) : 1;
  if (sums_exactly(s))
    kernels::combine_exactly(s.type, all, write_address(local.output), local.output.count, divisor);
  else if (divides)
    kernels::combine_avg(s.type, all, write_address(local.output), local.output.count, divisor);
  else
    kernels::combine(s.type, binding_.op, all, write_address(local.output), local.output.count);
}

void ScheduleExecution::finish_result() {
  const Signature& s = plan_->signature;
  if (s.op != ReduceKind::avg || comm().size == 1 || plan_->algorithm->single_combine) return;
  const std::size_t count = shape().result_count();
  if (count > 0) kernels::divide(s.type, binding_.output, count, static_cast<std::size_t>(comm().size));
}

const std::byte* ScheduleExecution::read_address(const Slice& slice) const {
  const void* base = slice.buffer == BufferName::input    ? input_
                     : slice.buffer == BufferName::output ? binding_.output
                                                          : scratch_.data();
  return static_cast<const std::byte*>(base) + slice.offset * unit_;
}

std::byte* ScheduleExecution::write_address(const Slice& slice) const {
  void* base = slice.buffer == BufferName::output ? binding_.output : scratch_.data();
  return static_cast<std::byte*>(base) + slice.offset * unit_;
}

}  // namespace tutti::detail
