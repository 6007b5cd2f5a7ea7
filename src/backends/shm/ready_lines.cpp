// SPDX-License-Identifier: BSD-3-Clause
#include "backends/shm/ready_lines.hpp"

#include <utility>

#include "backends/shm/short_way.hpp"
#include "call/context.hpp"
#include "call/progress.hpp"

namespace tutti::detail::shm {

std::unique_ptr<ReadyCall> ReadyLines::make(Context& context, const Plan& plan, const Binding& binding) {
  if (static_cast<Protocol>(plan.protocol) != Protocol::line) return nullptr;
  const Exchange exchange = Exchange::of(arena_of(context), plan, binding);
  if (exchange.overwrites_source()) return nullptr;
  std::unique_ptr<ReadyLines> made(new ReadyLines(exchange));
  if (made->shape_.waits_first()) return nullptr;
  return made;
}

bool ReadyLines::make_way(const Plan& plan, const Binding& binding, const Turn& turn, const flight::Note& its_note,
                          LineShape::Place& place, int looks) {
  Exchange exchange = Exchange::of(arena_, plan, binding);
  exchange.use_ordered(turn);
  shape_.give(exchange);
  its_note.stamp();
  exchange.put_record();
  place = shape_.first();
  if (!shape_.have_come(exchange, place, looks)) return false;
  shape_.take(exchange);
  arena_.complete(exchange.generation - 1);
  arena_.prepare_next();
  return true;
}

void ReadyLines::run(const ContextPtr& context, const PlanPtr& plan, Binding&& binding, const CallOptions& options) {
  ProgressEngine::instance().poll();
  if (arena_.oversubscribed() || !arena_.is_next_free())
    return run_short_way(context, plan, std::move(binding), options);
  const Turn turn = arena_.next_ordered(plan->digest);
  LineShape::Place place;
  if (!make_way(*plan, binding, turn, options.note, place, steps_alone * looks_at_flag))
    wait_for_lines(context, plan, std::move(binding), turn, Lines(shape_, place), options);
}

std::shared_ptr<Execution> ReadyLines::begin(const ContextPtr& context, const PlanPtr& plan, Binding&& binding,
                                             const CallOptions& options) {
  ProgressEngine::instance().poll();
  if (arena_.oversubscribed() || !arena_.is_next_free()) {
    options.note.stamp();
    return begin_short_way(context, plan, std::move(binding), options);
  }
  const Turn turn = arena_.next_ordered(plan->digest);
  LineShape::Place place;
  if (make_way(*plan, binding, turn, options.note, place, steps_begun * looks_at_flag)) return nullptr;
  return go_on_with_lines(context, plan, std::move(binding), turn, Lines(shape_, place), options);
}

}  // namespace tutti::detail::shm
