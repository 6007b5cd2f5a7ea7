// SPDX-License-Identifier: BSD-3-Clause
#include "training/reducer/state.hpp"

#include <fmt/format.h>

#include <numeric>
#include <tutti/collectives/allreduce.hpp>
#include <tutti/collectives/bcast.hpp>
#include <tutti/embedding_collection.hpp>
#include <tutti/error.hpp>
#include <utility>

#include "collectives/services.hpp"
#include "training/hooks/blocks_hook.hpp"
#include "training/reducer/registration.hpp"

namespace tutti {

using namespace detail::reducer;  // NOLINT(google-build-using-namespace): the parts of this class

namespace {

/// How long a nonblocking call may drive reductions.
constexpr std::chrono::microseconds help_budget{500};

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorCode::invalid_argument, "gradient reducer: " + what);
}

void check_options(const ReducerOptions& options) {
  if (options.op != ReduceKind::avg && options.op != ReduceKind::sum)
    refuse(fmt::format("option op is {}; pass avg or sum", reduce_op_name(options.op)));
  if (options.communicators == 0) refuse("option communicators is 0; pass at least 1");
  if (options.blocks > 0 &&
      (options.hook || options.find_unused || options.uneven || options.memory != MemoryKind::host))
    refuse("option blocks is set, which excludes hook, find_unused, uneven and memory other than host; unset them");
  if (options.memory == MemoryKind::host) return;
  if (options.memory != MemoryKind::device)
    refuse(fmt::format("option memory is {}; pass host or device", memory_kind_name(options.memory)));
  if (options.stream.kind == StreamKind::none)
    refuse("option memory is device, but option stream is unset; pass the stream that backward runs on");
  detail::device::refuse_per_thread(options.stream, [] { return "gradient reducer"; });
  if (options.check || options.average_active || options.bucket_bytes == ReducerOptions::automatic)
    refuse("check, average_active and automatic bucket_bytes are not supported with memory=device; unset them");
  if (options.hook && !options.hook->takes_device_memory())
    refuse(
        fmt::format("hook {} supports host memory only; use allreduce_hook() for device memory", options.hook->name()));
}

void check_parameter(const Parameter& parameter) {
  switch (parameter.type) {
    case DatatypeKind::float16:
    case DatatypeKind::bfloat16:
    case DatatypeKind::float32:
    case DatatypeKind::float64:
      return;
    default:
      refuse(fmt::format("add, parameter '{}': type is {}; pass float16, bfloat16, float32 or float64", parameter.name,
                         datatype_name(parameter.type)));
  }
}

std::shared_ptr<CommunicationHook> hook_of(const ReducerOptions& options) {
  if (options.blocks > 0) return std::make_shared<training::BlocksHook>(options.blocks);
  return options.hook ? options.hook : allreduce_hook();
}

/// The blocks of this rank.
std::size_t passes_over(std::size_t blocks, const Communicator& comm) {
  if (blocks < static_cast<std::size_t>(comm.size()))
    refuse(fmt::format("option blocks is {}, but there are {} ranks; pass at least a block for each rank", blocks,
                       comm.size()));
  return sample_slice(blocks, comm.rank(), comm.size()).size();
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

GradientReducer::State::State(const Communicator& user, ReducerOptions chosen)
    : user_(&user), options_(std::move(chosen)), hook_(hook_of(options_)) {
  check_options(options_);
}

GradientReducer::State::~State() {
  driver_.reset();
  if (!buckets || !queue_->is_outstanding()) return;
  // Reductions are under way: peers may still read and write the gradients.
  buckets->keep_memory();
  detail::defer_free(std::move(hook_));
  detail::defer_free(std::move(comms_));
  detail::defer_free(std::shared_ptr<LaunchQueue>(std::move(queue_)));
}

void GradientReducer::State::require_prepared(const char* call) const {
  if (!buckets) refuse(fmt::format("{} before prepare(); add all parameters, then call prepare()", call));
}

void GradientReducer::State::require_index(const char* call, std::size_t i) const {
  if (i >= parameters.size())
    throw Error(ErrorCode::index_out_of_range,
                fmt::format("gradient reducer: {}({}), but there are {} parameters; pass a number that add() returned",
                            call, static_cast<std::ptrdiff_t>(i + options_.first_number), parameters.size()));
}

const Parameter& GradientReducer::State::parameter(std::size_t i) const {
  require_index("parameter", i);
  return parameters[i];
}

void GradientReducer::State::require_between_steps(const char* call) const {
  require_prepared(call);
  if (tracker_.is_open()) refuse(fmt::format("{} within a step; call wait() first", call));
}

std::size_t GradientReducer::State::add(Parameter parameter) {
  if (buckets)
    refuse(fmt::format("add, parameter '{}': prepare() was called already; add all parameters first", parameter.name));
  check_parameter(parameter);
  parameters.push_back(std::move(parameter));
  return parameters.size() - 1;
}

void GradientReducer::State::prepare() {
  if (buckets) refuse("prepare() was called already; create another reducer");
  compare(*user_, facts_of(options_, parameters));
  check_threads(*user_, options_.progress_thread);
  if (options_.blocks > 0) passes_ = passes_over(options_.blocks, *user_);
  for (std::size_t i = 0; i < options_.communicators; ++i) comms_.push_back(user_->split(0, user_->rank()));
  if (options_.memory == MemoryKind::device)
    for (const Communicator& comm : comms_) comm.prepare_device();
  broadcast_values(comms_[0], parameters, options_.memory);
  const bool divides_by_active = options_.uneven && options_.average_active && options_.op == ReduceKind::avg;
  const bool sums = options_.op == ReduceKind::sum || divides_by_active;
  buckets.emplace(comms_[0], parameters,
                  BucketRules{sums ? ReduceKind::sum : ReduceKind::avg, options_.check, options_.memory,
                              options_.stream, !options_.find_unused && options_.blocks == 0, passes_});
  transfer_.emplace(*buckets, tracker_, BucketTransfer::Rules{divides_by_active, copies_out_at_end()});
  const auto sizes = buckets->sizes();
  const std::size_t total =
      std::accumulate(sizes.begin(), sizes.end(), std::size_t{0},
                      [](std::size_t bytes, const ParameterSize& p) { return bytes + p.bytes(); });
  tuner_ = options_.bucket_bytes == ReducerOptions::automatic ? Tuner::among_sizes(total)
                                                              : Tuner::fixed(options_.bucket_bytes);
  order_ = reverse_order(parameters.size());
  order_settled_ = !options_.rebuild;
  used_bits_.assign((parameters.size() + 63) / 64, 0);
  plan_and_arrange();
  driver_ = std::make_unique<Driver>(*queue_, options_.progress_thread, user_->topology().oversubscribed);
}

void GradientReducer::State::plan_and_arrange() {
  arrange(plan_buckets(buckets->sizes(), order_, {tuner_.bytes(), options_.first_bucket_bytes}));
}

void GradientReducer::State::arrange(const BucketPlan& plan) {
  if (layouts > 0 && plan == plan_) return;
  plan_ = plan;
  buckets->arrange(plan_);
  ++layouts;
  hook_->prepare(comms_, buckets->buckets());
  queue_->prepare({.comms = comms_,
                   .hook = hook_.get(),
                   .transfer = &*transfer_,
                   .buckets = buckets->buckets().size(),
                   .counts_active = options_.uneven,
                   .finds_unused = options_.find_unused,
                   .polls_after_backward = options_.memory == MemoryKind::device});
}

void GradientReducer::State::begin_step(bool active) {
  step_begin_ = Clock::now();
  beside_seconds_ = 0;
  passed_.assign(parameters.size(), 0);
  tracker_.begin(*buckets, {options_.check, !options_.progress_thread});
  driver_->with([&](LaunchQueue& queue) { queue.begin(active); });
}

/// With blocks: takes the gradient of a pass before the last, which does not complete it.
bool GradientReducer::State::keeps(std::size_t i) {
  if (i >= passed_.size() || passed_[i] + 1 >= passes_) return false;
  buckets->keep(i, passed_[i]++);
  return true;
}

void GradientReducer::State::ready(std::size_t i) {
  if (!syncs_) return;
  const auto begin = Clock::now();
  if (!tracker_.is_open()) {
    require_prepared("ready()");
    driver_->check();
    begin_step(true);
  }
  if (!keeps(i) && tracker_.mark(i, user_->rank())) driver_->allow(tracker_.full());
  driver_->help(help_budget);
  beside_seconds_ += seconds_since(begin);
  require_index("ready", i);
}

void GradientReducer::State::progress() {
  if (!driver_) return;
  const auto begin = Clock::now();
  driver_->help(help_budget);
  if (tracker_.is_open()) beside_seconds_ += seconds_since(begin);
}

void GradientReducer::State::wait() {
  if (!syncs_) return;
  const auto begin = Clock::now();
  require_prepared("wait()");
  driver_->check();
  if (!tracker_.is_open()) begin_step(true);
  const Fault fault = tracker_.end(options_.find_unused, user_->rank());
  end_step(fault);
  statistics_.exposed_seconds = beside_seconds_ + seconds_since(begin);
  Fault::from_word(queue_->status()).throw_as_error(parameters, options_.first_number);
  adapt(seconds_since(step_begin_));
}

bool GradientReducer::State::join() {
  require_between_steps("join()");
  driver_->check();
  if (!options_.uneven) refuse("join() needs the option uneven on all ranks");
  begin_step(false);
  (void)tracker_.end(true, user_->rank());
  driver_->drive_until([](const LaunchQueue& queue) { return queue.knows_active(); });
  if (queue_->active() == 0) {
    driver_->with([](LaunchQueue& queue) { queue.abandon(); });
    return false;
  }
  end_step({});
  Fault::from_word(queue_->status()).throw_as_error(parameters, options_.first_number);
  adapt(0);
  return true;
}

void GradientReducer::State::end_step(const Fault& fault) {
  driver_->with([&](LaunchQueue& queue) { queue.close(fault.word(), tracker_.ready_bits()); });
  driver_->drive_until([](const LaunchQueue& queue) { return !queue.is_open(); });
  if (options_.find_unused)
    used_bits_ = queue_->used();
  else
    used_bits_.assign(used_bits_.size(), ~std::uint64_t{0});
  if (copies_out_at_end()) copy_out();
  ++statistics_.steps;
}

void GradientReducer::State::copy_out() {
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (used(i) || parameters[i].gradient == nullptr) buckets->copy_out(i);
}

bool GradientReducer::State::take_arrival() {
  if (order_settled_) return false;
  order_settled_ = true;
  std::vector<std::uint64_t> arrival(parameters.size() + 1, 0);
  if (user_->rank() == 0) {
    arrival[0] = tracker_.arrival().size();
    std::copy(tracker_.arrival().begin(), tracker_.arrival().end(), arrival.begin() + 1);
  }
  bcast(comms_[0], arrival, 0);
  if (arrival[0] == 0) return false;
  const std::vector<std::size_t> seen(arrival.begin() + 1,
                                      arrival.begin() + 1 + static_cast<std::ptrdiff_t>(arrival[0]));
  order_ = complete_order(seen, parameters.size());
  return true;
}

void GradientReducer::State::adapt(double seconds) {
  const bool was_settled = order_settled_;
  const std::size_t before = layouts;
  if (take_arrival()) {
    plan_and_arrange();
    statistics_.rebuilt = layouts > before;
  }
  if (!was_settled || tuner_.is_settled()) return;
  allreduce(comms_[0], &seconds, 1, max);
  if (tuner_.record(seconds)) plan_and_arrange();
}

void GradientReducer::State::set_sync(bool sync) {
  if (tracker_.is_open()) refuse("set_sync() within a step; call wait() first");
  syncs_ = sync;
}

Buffer GradientReducer::State::gradient(std::size_t i) const {
  require_prepared("gradient()");
  require_index("gradient", i);
  return {buckets->gradient(i), buckets->sizes()[i].count, parameters[i].type, options_.memory};
}

bool GradientReducer::State::used(std::size_t i) const {
  require_index("used", i);
  return !used_bits_.empty() && (used_bits_[i / 64] >> i % 64 & 1U) != 0;
}

std::string GradientReducer::State::map() const {
  require_prepared("map()");
  return fmt::format("at most {} bytes per bucket{}, {}\n", tuner_.bytes(),
                     options_.bucket_bytes != ReducerOptions::automatic ? ""
                     : tuner_.is_settled()                              ? " (measured)"
                                                                        : " (being measured)",
                     statistics_.rebuilt ? "in the order in which gradients became ready on rank 0"
                                         : "in reverse order of registration") +
         map_text(buckets->buckets(), parameters, options_.first_number);
}

ReducerStatistics GradientReducer::State::statistics() const {
  ReducerStatistics now = statistics_;
  if (!buckets) return now;
  now.buckets = buckets->buckets().size();
  now.bucket_bytes = tuner_.bytes();
  for (std::size_t b = 0; b < now.buckets; ++b) now.bytes_per_step += hook_->bytes(b);
  now.tuned = options_.bucket_bytes == ReducerOptions::automatic && tuner_.is_settled();
  return now;
}

std::vector<std::byte> GradientReducer::State::save() const {
  require_between_steps("save()");
  return encode(
      {statistics_.steps, order_settled_, statistics_.rebuilt, order_, plan_, tuner_.progress(), hook_->save()});
}

void GradientReducer::State::load(std::span<const std::byte> bytes) {
  require_between_steps("load()");
  Saved saved = agreed_state(comms_[0], bytes, parameters.size());
  statistics_.steps = saved.steps;
  statistics_.rebuilt = saved.rebuilt;
  order_settled_ = saved.order_settled;
  order_ = std::move(saved.order);
  tuner_ = Tuner(std::move(saved.tuner));
  arrange(saved.plan);
  hook_->load(saved.hook);
}

}  // namespace tutti
