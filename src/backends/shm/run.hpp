// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>
#include <utility>

#include "backends/shm/task.hpp"
#include "backends/shm/transport.hpp"
#include "call/at_turn.hpp"
#include "call/context.hpp"
#include "call/progress.hpp"

namespace tutti::detail::shm {

/// The begin of a call, in local variables alone, polled by its caller: to make a task costs as much as a short call.
template <typename Way>
class Run {
 public:
  Run(Context& context, Arena& arena, const Plan& plan, const Binding& binding, const Turn& turn)
      : context_(context), exchange_(Exchange::of(arena, plan, binding)) {
    exchange_.use_ordered(turn);
    if constexpr (Way::needs_scratch) {
      scratch_ = context.scratch.acquire(Way::scratch_bytes(exchange_));
      transport_.begin(exchange_, scratch_.data());
    } else {
      transport_.begin(exchange_, nullptr);
    }
  }
  ~Run() {
    if constexpr (Way::needs_scratch) context_.scratch.release(std::move(scratch_));
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// Takes that many steps. Returns true once it is complete. Stamps the note behind what other ranks wait for.
  [[nodiscard]] bool poll(int times, const flight::Note& note) {
    if constexpr (Way::gives_at_begin) tell(note);
    bool is_done = transport_.step(exchange_);
    if constexpr (!Way::gives_at_begin) tell(note);
    for (int i = 1; i < times && !is_done; ++i) is_done = transport_.step(exchange_);
    if (!is_done) return false;
    transport_.finish(exchange_);
    exchange_.arena->complete(exchange_.generation - 1);
    exchange_.arena->wake();  // a rank may sleep until this cell is free
    exchange_.arena->prepare_next();
    return true;
  }
  /// Hands the call over.
  void leave_to(TaskBy<Way>& task) noexcept {
    if constexpr (Way::needs_scratch)
      task.resume(std::move(transport_), std::exchange(scratch_, {}));
    else
      task.resume(std::move(transport_), {});
  }

 private:
  void tell(const flight::Note& note) {
    note.stamp();
    exchange_.put_record();
  }

  struct Nothing {};
  Context& context_;
  Exchange exchange_;
  Way transport_;
  [[no_unique_address]] std::conditional_t<Way::needs_scratch, ScratchPool::Block, Nothing> scratch_{};
};

/// Refers to what lives longer than the call, without the cost of counting references.
template <typename T>
std::shared_ptr<T> unowned(const std::shared_ptr<T>& held) {
  return {std::shared_ptr<void>(), held.get()};
}

/// A blocking call whose task is not on the heap. `begun`: the part of it that has been made, or null.
template <typename Way>
void run_task(const ContextPtr& context, const PlanPtr& plan, Binding&& binding, const Turn& turn,
              const CallOptions& options, Run<Way>* begun) {
  TaskBy<Way> task(unowned(context), unowned(plan), std::move(binding), turn, options.timeout);
  if (begun != nullptr) begun->leave_to(task);
  run_to_end(task);
}

/// Begins a call whose cell is free. Returns null if it is complete: a blocking one always is.
template <typename Way>
[[gnu::always_inline]] inline std::shared_ptr<Execution> begin(const ContextPtr& context, Arena& arena,
                                                               const PlanPtr& plan, Binding&& binding,
                                                               const CallOptions& options) {
  const bool is_blocking = plan->signature.kind == CallKind::blocking;
  const Turn turn = arena.next_ordered(plan->digest);
  return at_turn(*context, *plan, [&]() -> std::shared_ptr<Execution> {
    Run<Way> run(*context, arena, *plan, binding, turn);
    const int steps = arena.oversubscribed() ? 1 : is_blocking ? steps_alone : steps_begun;
    if (run.poll(steps, options.note)) return nullptr;
    if (is_blocking) {
      run_task<Way>(context, plan, std::move(binding), turn, options, &run);
      return nullptr;
    }
    auto task = std::make_shared<TaskBy<Way>>(context, plan, std::move(binding), turn, options.timeout);
    run.leave_to(*task);
    return task;
  });
}

/// Returns true if a call sends its input as it is, and need not wait for its cell.
[[nodiscard]] inline bool is_plain(Arena& arena, const Plan& plan, const Binding& binding) {
  return plan.signature.op != ReduceKind::premul_sum && !Exchange::overwrites_source(plan, binding, arena.size()) &&
         arena.is_next_free();
}

/// Backend::make for the calls by one transport.
template <typename Way>
std::shared_ptr<Execution> make_by(const ContextPtr& context, const PlanPtr& plan, Binding&& binding, const Turn* turn,
                                   const CallOptions& options) {
  if (turn != nullptr) return std::make_shared<TaskBy<Way>>(context, plan, std::move(binding), *turn, options.timeout);
  ProgressEngine::instance().poll();
  Arena& arena = arena_of(*context);
  const bool is_blocking = plan->signature.kind == CallKind::blocking;
  const bool may_begin = is_blocking ? Way::begins_alone : Way::starts_alone;
  if (may_begin && is_plain(arena, *plan, binding))
    return begin<Way>(context, arena, plan, std::move(binding), options);
  options.note.stamp();
  if (!is_blocking) return make_execution(context, plan, std::move(binding), options);
  at_turn(*context, *plan, [&] {
    run_task<Way>(context, plan, std::move(binding), arena.next_ordered(plan->digest), options, nullptr);
  });
  return nullptr;
}

}  // namespace tutti::detail::shm
