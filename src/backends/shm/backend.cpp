// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "backends/shm/arena.hpp"
#include "backends/shm/cell_use.hpp"
#include "backends/shm/line_shape.hpp"
#include "backends/shm/model.hpp"
#include "backends/shm/registry.hpp"
#include "backends/shm/tree_cost.hpp"
#include "call/candidates.hpp"
#include "call/context.hpp"
#include "call/execution.hpp"
#include "call/plan.hpp"
#include "core/config.hpp"

namespace tutti::detail {
namespace {

using shm::Arena;
using shm::Protocol;
using shm::row_of;

Candidate way_by(Protocol protocol, const Candidates& all) {
  const Machine& machine = all.machine();
  const shm::ProtocolRow& row = row_of(protocol);
  Candidate c;
  c.protocol = static_cast<std::uint8_t>(protocol);
  c.name = fmt::format("shm:{}", row.name);
  c.keeps_order = protocol != Protocol::tree;
  c.gives_at_once = row.gives_at_once(all.signature(), machine.size);
  c.carries_parts = true;
  // Not predicted: it takes memory for each rank, of which several nodes may have many.
  if (machine.size > 1 && !machine.shared_memory) {
    c.forbid("the ranks do not share memory here");
    return c;
  }
  c.seconds = row.seconds(all.signature(), machine);
  const bool single_copy = machine.single_copy || machine.mapped_copy;
  const bool can = row.fits(all.signature(), machine.size, {single_copy, machine.progress_hook});
  const bool can_alone = can && row.fits(all.signature(), machine.size, {single_copy});
  if (can_alone && protocol != Protocol::tree)
    c.carrier = Carrier::others;
  else if (machine.progress_hook)
    c.carrier = Carrier::hook;
  if (machine.size == 1)
    c.advise_against("one rank: the call is a local copy");
  else if (!can)
    c.forbid("this protocol cannot make the call: the data are too long for it, or it is not allowed here");
  return c;
}

/// The tree along the groups of this machine's ranks.
Candidate way_by_tree(const Candidates& all) {
  const Machine& machine = all.machine();
  Candidate c = way_by(Protocol::tree, all);
  if (!c.can_be_chosen()) return c;
  const shm::TreeShape shape =
      machine.places.empty() ? shm::unplaced_shape(machine.size) : shm::shape_of(machine.places);
  c.seconds = shm::predict_tree(all.signature(), shape, machine);
  if (!shm::is_worth_a_tree(shape)) c.advise_against("few ranks: they exchange their lines directly");
  return c;
}

/// Adds a way behind those that go on without a rank.
void add_behind_others(Candidates& all, Candidate way) {
  all.measure(way);
  if (way.can_be_chosen() && all.signature().kind != CallKind::blocking) way.advise_against(all.why_behind_others(way));
  all.add(std::move(way));
}

void add_candidates(Candidates& all) {
  if (all.on_device()) return;
  if (tutti::is_varying(all.signature().operation)) return all.add(way_by(Protocol::automatic, all));
  std::vector<Candidate> behind;
  for (const Protocol protocol : {Protocol::line, Protocol::slots, Protocol::single_copy, Protocol::parts,
                                  Protocol::stream, Protocol::wide, Protocol::uncached}) {
    Candidate way = way_by(protocol, all);
    if (way.carrier == Carrier::hook)
      behind.push_back(std::move(way));
    else
      all.add(std::move(way));
  }
  for (Candidate& way : behind) add_behind_others(all, std::move(way));
  add_behind_others(all, way_by_tree(all));
}

void complete(Plan& plan, const Machine& machine) {
  const auto protocol = static_cast<Protocol>(plan.protocol);
  plan.make = row_of(protocol).make;
  plan.overflow = "mpi";
  if (protocol == Protocol::automatic) plan.slot_most = shm::longest_in_slot(plan.signature, machine);
  if (protocol == Protocol::line)
    plan.own = shm::line_plan(plan.signature, machine.rank, machine.size, machine.oversubscribed);
}

Turn take_turn(Context& context, const Plan& plan, std::chrono::nanoseconds timeout) {
  if (plan.signature.kind != CallKind::persistent) return shm::arena_of(context).next_ordered(plan.digest);
  return shm::take_persistent_turn(context, plan.digest, timeout);
}

std::unique_ptr<BackendState> create_state(Context& context, std::string& report) {
  if (context.size == 1) {
    report = "one rank";
  } else if (!config().shared_memory) {
    report = "switched off by TUTTI_SHM=0";
  } else if (context.topology.nodes > 1) {
    report = "ranks on several nodes";
  } else {
    auto arena = Arena::create(context, report);
    if (!report.empty() && context.rank == 0) log_once("shared memory: " + report);
    return arena;
  }
  return nullptr;
}

}  // namespace

constinit Backend shm_backend{.name = "shm",
                              .add_candidates = add_candidates,
                              .complete = complete,
                              .take_turn = take_turn,
                              .create_state = create_state};

}  // namespace tutti::detail
