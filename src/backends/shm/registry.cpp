// SPDX-License-Identifier: BSD-3-Clause
#include "backends/shm/registry.hpp"

#include <array>

#include "backends/shm/automatic.hpp"
#include "backends/shm/layout.hpp"
#include "backends/shm/lines.hpp"
#include "backends/shm/model.hpp"
#include "backends/shm/parts.hpp"
#include "backends/shm/run.hpp"
#include "backends/shm/tree.hpp"
#include "backends/shm/tree_exchange.hpp"

namespace tutti::detail::shm {
namespace {

bool goes_on_alone(const Signature& s, const Means& means) {
  return s.kind != CallKind::blocking && !means.goes_on_inside_mpi;
}

bool always(const Signature& /*s*/, int /*size*/) { return true; }
bool never(const Signature& /*s*/, int /*size*/) { return false; }
bool by_ring(const Signature& s, int size, const Means& /*means*/) { return fits_ring(s, size); }

std::shared_ptr<Execution> make_by_tree(const ContextPtr& context, const PlanPtr& plan, Binding&& binding,
                                        const Turn* turn, const CallOptions& options) {
  const bool exchanges = is_exchanged(plan->signature, arena_of(*context).exchange_levels());
  return (exchanges ? make_by<TreeExchange> : make_by<Tree>)(context, plan, std::move(binding), turn, options);
}

template <Protocol protocol>
double ring_time(const Signature& s, const Machine& machine) {
  return ring_seconds(protocol, s, machine);
}

constexpr std::array<ProtocolRow, 9> rows = {{
    {Protocol::automatic, "automatic",
     [](const Signature& s, int, const Means& means) {
       return tutti::is_varying(s.operation) && (means.single_copy || !goes_on_alone(s, means));
     },
     always, start_seconds, make_by<Automatic>},
    {Protocol::line, "line", [](const Signature& s, int size, const Means&) { return fits_lines(s, size); }, always,
     line_seconds, make_by<Lines>},
    {Protocol::slots, "slots",
     [](const Signature& s, int size, const Means& means) { return fits_slots(s, size, goes_on_alone(s, means)); },
     [](const Signature& s, int size) { return published_bytes(s, size) <= slot_bytes; }, slot_seconds, make_by<Slots>},
    {Protocol::single_copy, "single_copy",
     [](const Signature& s, int, const Means& means) {
       return !tutti::is_varying(s.operation) && means.single_copy && s.operation != Operation::barrier;
     },
     never, single_copy_seconds, make_by<SingleCopy>},
    {Protocol::parts, "parts", [](const Signature& s, int size, const Means&) { return fits_parts(s, size); }, never,
     part_seconds, make_by<Parts>},
    {Protocol::tree, "tree",
     [](const Signature& s, int, const Means& means) { return fits_tree(s, goes_on_alone(s, means)); }, never,
     unplaced_tree_seconds, make_by_tree},
    {Protocol::stream, "stream", by_ring, is_held_by_ring, ring_time<Protocol::stream>, make_by<Slots>},
    {Protocol::wide, "wide", by_ring, is_held_by_ring, ring_time<Protocol::wide>, make_by<Slots>},
    {Protocol::uncached, "uncached", by_ring, is_held_by_ring, ring_time<Protocol::uncached>, make_by<Slots>},
}};

constexpr bool are_in_order() {
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i].protocol != static_cast<Protocol>(i)) return false;
  return true;
}
static_assert(are_in_order());

}  // namespace

const ProtocolRow& row_of(Protocol protocol) { return rows[static_cast<std::size_t>(protocol)]; }

std::string_view protocol_name(Protocol protocol) { return row_of(protocol).name; }

}  // namespace tutti::detail::shm
