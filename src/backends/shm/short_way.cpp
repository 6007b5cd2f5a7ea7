// SPDX-License-Identifier: BSD-3-Clause
#include "backends/shm/short_way.hpp"

#include <type_traits>
#include <utility>

#include "backends/shm/shm_execution.hpp"
#include "call/at_turn.hpp"
#include "call/context.hpp"
#include "call/progress.hpp"

namespace tutti::detail::shm {
namespace {

/// One operation by a transport, polled by its caller.
template <typename Transport>
class ShortRun {
 public:
  /// note: of a blocking call, which it stamps, or none.
  ShortRun(Context& context, const Plan& plan, const Binding& binding, const Turn& turn, const flight::Note& note)
      : context_(context),
        note_(note),
        turn_(static_cast<std::uint64_t>(turn.number)),
        exchange_(Exchange::of(arena_of(context), plan, binding)) {
    exchange_.use_ordered(turn);
    if constexpr (std::is_same_v<Transport, SingleCopy>) {
      if (exchange_.shape().combines()) scratch_ = context.scratch.acquire(SingleCopy::scratch_bytes(exchange_));
      transport_.begin(exchange_, scratch_.data());
    } else {
      transport_.begin(exchange_);
    }
  }
  ~ShortRun() {
    if (scratch_.bytes != 0) context_.scratch.release(std::move(scratch_));
  }
  ShortRun(const ShortRun&) = delete;
  ShortRun& operator=(const ShortRun&) = delete;

  /// Returns true once it is complete.
  [[nodiscard]] bool poll(int times) {
    bool is_done = transport_.step(exchange_);
    note_.stamp();
    exchange_.put_record();
    for (int i = 1; i < times && !is_done; ++i) is_done = transport_.step(exchange_);
    if (!is_done) return false;
    transport_.finish(exchange_);
    exchange_.arena->complete(turn_);
    exchange_.arena->wake();  // a rank may sleep until this cell is free
    exchange_.arena->prepare_next();
    return true;
  }
  /// Hands the run over to an execution.
  void hand_over(ShmExecution& execution) noexcept {
    if constexpr (std::is_same_v<Transport, SingleCopy>)
      execution.resume(std::move(transport_), std::move(scratch_));
    else
      execution.resume(transport_);
    scratch_ = {};
  }

 private:
  Context& context_;
  flight::Note note_;
  std::uint64_t turn_;
  Exchange exchange_;
  Transport transport_;
  ScratchPool::Block scratch_{};  ///< of SingleCopy
};

/// Refers to an execution that ends before the call does, without the cost of counting references.
template <typename T>
std::shared_ptr<T> unowned(const std::shared_ptr<T>& held) {
  return {std::shared_ptr<void>(), held.get()};
}

template <typename Transport>
void run_by(const ContextPtr& context, const PlanPtr& plan, Binding&& binding, const CallOptions& options) {
  Arena& arena = arena_of(*context);
  const Turn turn = arena.next_ordered(plan->digest);
  at_turn(*context, *plan, [&] {
    ShortRun<Transport> run(*context, *plan, binding, turn, options.note);
    if (run.poll(arena.oversubscribed() ? 1 : steps_alone)) return;
    ShmExecution execution(unowned(context), unowned(plan), std::move(binding), turn, options.timeout);
    run.hand_over(execution);
    run_to_end(execution);
  });
}

template <typename Transport>
std::shared_ptr<Execution> begin_by(const ContextPtr& context, const PlanPtr& plan, Binding&& binding,
                                    const CallOptions& options) {
  Arena& arena = arena_of(*context);
  const Turn turn = arena.next_ordered(plan->digest);
  return at_turn(*context, *plan, [&]() -> std::shared_ptr<Execution> {
    ShortRun<Transport> run(*context, *plan, binding, turn, {});
    if (run.poll(arena.oversubscribed() ? 1 : steps_begun)) return nullptr;
    auto execution = std::make_shared<ShmExecution>(context, plan, std::move(binding), turn, options.timeout);
    run.hand_over(*execution);
    return execution;
  });
}

/// Returns true if a call sends its input as it is, and need not wait for its cell.
bool is_plain(Arena& arena, const Plan& plan, const Binding& binding) {
  const bool reads_input = plan.signature.op != ReduceKind::premul_sum &&
                           !(binding.in_place && Exchange::of(arena, plan, binding).overwrites_source());
  return reads_input && arena.is_next_free();
}

}  // namespace

void run_short_way(const ContextPtr& context, const PlanPtr& plan, Binding&& binding, const CallOptions& options) {
  ProgressEngine::instance().poll();
  Arena& arena = arena_of(*context);
  const auto protocol = static_cast<Protocol>(plan->protocol);
  const bool plain = is_plain(arena, *plan, binding);
  if (plain && protocol == Protocol::line) return run_by<Lines>(context, plan, std::move(binding), options);
  if (plain && protocol == Protocol::tree) return run_by<Tree>(context, plan, std::move(binding), options);
  if (plain && (protocol == Protocol::slots || is_streamed(protocol)))
    return run_by<Slots>(context, plan, std::move(binding), options);
  if (plain && protocol == Protocol::parts) return run_by<Parts>(context, plan, std::move(binding), options);
  if (plain && protocol == Protocol::single_copy) return run_by<SingleCopy>(context, plan, std::move(binding), options);
  options.note.stamp();
  at_turn(*context, *plan, [&] {
    const Turn turn = arena.next_ordered(plan->digest);
    ShmExecution execution(unowned(context), unowned(plan), std::move(binding), turn, options.timeout);
    run_to_end(execution);
  });
}

void wait_for_lines(const ContextPtr& context, const PlanPtr& plan, Binding&& binding, const Turn& turn, Lines given,
                    const CallOptions& options) {
  at_turn(*context, *plan, [&] {
    ShmExecution execution(unowned(context), unowned(plan), std::move(binding), turn, options.timeout);
    execution.resume(given);
    run_to_end(execution);
  });
}

std::shared_ptr<Execution> go_on_with_lines(const ContextPtr& context, const PlanPtr& plan, Binding&& binding,
                                            const Turn& turn, Lines given, const CallOptions& options) {
  return at_turn(*context, *plan, [&] {
    auto execution = std::make_shared<ShmExecution>(context, plan, std::move(binding), turn, options.timeout);
    execution->resume(given);
    return execution;
  });
}

std::shared_ptr<Execution> begin_short_way(const ContextPtr& context, const PlanPtr& plan, Binding&& binding,
                                           const CallOptions& options) {
  ProgressEngine::instance().poll();
  Arena& arena = arena_of(*context);
  const auto protocol = static_cast<Protocol>(plan->protocol);
  const bool plain = is_plain(arena, *plan, binding);
  if (plain && protocol == Protocol::line) return begin_by<Lines>(context, plan, std::move(binding), options);
  if (plain && protocol == Protocol::slots) return begin_by<Slots>(context, plan, std::move(binding), options);
  return make_execution(context, plan, std::move(binding), options);
}

}  // namespace tutti::detail::shm
