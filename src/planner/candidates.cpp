// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "backends/native/eligible.hpp"
#include "backends/shm/geometry.hpp"
#include "planner/planner.hpp"
#include "schedules/layout.hpp"

namespace tutti::detail {
namespace {

using schedules::Algorithm;
using schedules::Spread;

bool is_small_float(DatatypeKind kind) {
  return kind == DatatypeKind::float16 || kind == DatatypeKind::bfloat16 || kind == DatatypeKind::float8_e4m3 ||
         kind == DatatypeKind::float8_e5m2;
}

/// All candidates of one call, made one backend after the other.
class Collection {
 public:
  Collection(const Signature& signature, const Machine& machine)
      : signature_(signature), machine_(machine), wiring_(wiring_of(machine)) {}

  void add_shm();
  void add_schedules();
  /// Needs those of the other backends.
  void add_native();
  [[nodiscard]] std::vector<Candidate> take() &&;

 private:
  void add(Candidate candidate);
  void add_schedule(const Algorithm& algorithm);
  [[nodiscard]] std::string why_unwise(const Algorithm& algorithm) const;
  [[nodiscard]] std::string why_not_native(const Candidate& native) const;
  [[nodiscard]] bool prefers_native() const;
  [[nodiscard]] const Candidate* fastest(Backend backend) const;

  const Signature& signature_;
  const Machine& machine_;
  Wiring wiring_;
  std::vector<Candidate> all_;
};

void Collection::add(Candidate candidate) {
  if (machine_.table != nullptr)
    if (const auto measured = machine_.table->seconds(signature_, candidate.name)) {
      candidate.seconds = *measured;
      candidate.measured = true;
    }
  all_.push_back(std::move(candidate));
}

void Collection::add_shm() {
  using shm::Protocol;
  for (const Protocol protocol : {Protocol::automatic, Protocol::line, Protocol::slots, Protocol::single_copy}) {
    if ((protocol == Protocol::automatic) != schedules::is_varying(signature_.operation)) continue;
    Candidate c;
    c.backend = Backend::shm;
    c.protocol = protocol;
    c.name = fmt::format("shm:{}", shm::protocol_name(protocol));
    c.seconds = shm::predict(protocol, signature_, machine_.size, machine_.oversubscribed);
    if (machine_.size == 1) {
      c.excluded = "one rank: a local copy";
    } else if (!machine_.shm) {
      c.excluded = "the ranks do not share memory here";
      c.nameable = false;
    } else if (!shm::can_do(protocol, signature_, machine_.size, machine_.single_copy)) {
      c.excluded = "this protocol cannot make the call: too long for it, or not allowed here";
      c.nameable = false;
    }
    add(std::move(c));
  }
}

void Collection::add_schedules() {
  for (const Algorithm& algorithm : schedules::algorithms_of(signature_.operation)) add_schedule(algorithm);
  for (const Algorithm& algorithm : schedules::hierarchical_algorithms_of(signature_.operation))
    add_schedule(algorithm);
}

void Collection::add_schedule(const Algorithm& algorithm) {
  Candidate c;
  c.backend = Backend::mpi;
  c.algorithm = &algorithm;
  c.name = fmt::format("mpi:{}", algorithm.name);
  c.excluded = why_wrong(algorithm, signature_, wiring_.spread);
  c.nameable = c.excluded.empty();
  if (!schedules::fits(algorithm, machine_.size)) {
    c.seconds = std::numeric_limits<double>::infinity();
    all_.push_back(std::move(c));
    return;
  }
  if (c.nameable) c.excluded = why_unwise(algorithm);
  c.seconds = predict(algorithm, signature_, wiring_);
  add(std::move(c));
}

std::string Collection::why_unwise(const Algorithm& algorithm) const {
  if (algorithm.max_size != 0 && machine_.size > algorithm.max_size)
    return fmt::format("made for at most {} ranks; only by name", algorithm.max_size);
  // A rank may be inside the host MPI until others have finished this call: measured or not.
  if (signature_.kind != CallKind::blocking && fastest(Backend::shm) != nullptr &&
      algorithm.cost(machine_.size, 1.0).rounds > 1)
    return "its rounds need every rank's calls, and shared memory goes on while one is away; only by name";
  if (!algorithm.hierarchical) return {};
  if (wiring_.spread.nodes == 1) return "one node: nothing to compose; only by name";
  if (wiring_.spread.most == 1) return "one rank a node: nothing to compose; only by name";
  return {};
}

const Candidate* Collection::fastest(Backend backend) const {
  const Candidate* best = nullptr;
  for (const Candidate& c : all_)
    if (c.backend == backend && c.excluded.empty() && (best == nullptr || c.seconds < best->seconds)) best = &c;
  return best;
}

bool Collection::prefers_native() const {
  if (fastest(Backend::shm) != nullptr) return false;
  if (signature_.kind != CallKind::nonblocking) return may_block_inside_mpi(signature_, machine_);
  const Candidate* schedule = fastest(Backend::mpi);
  return schedule == nullptr || schedule->algorithm->cost(machine_.size, 1.0).rounds > 1;
}

std::string Collection::why_not_native(const Candidate& native) const {
  if (machine_.size == 1) return "one rank: a local copy";
  if (signature_.kind == CallKind::blocking && !may_block_inside_mpi(signature_, machine_))
    return "waits inside MPI: only by name, or by the option native_blocking with a core for every rank";
  if (native.preferred) return {};
  const Candidate* shared = fastest(Backend::shm);
  if (shared != nullptr && !native.measured) return "shared memory makes the call, and this way was not measured";
  if (shared != nullptr && native.seconds >= shared->seconds) return "shared memory is faster";
  if (native.measured) return {};
  return "a schedule of one round goes on without calls as well, and this way was not measured";
}

void Collection::add_native() {
  Candidate c;
  c.backend = Backend::native;
  c.name = "native";
  if (const Candidate* schedule = fastest(Backend::mpi)) c.seconds = schedule->seconds;
  add(std::move(c));
  Candidate& native = all_.back();
  if (machine_.size > 1 && !native_is_eligible(signature_)) {
    native.excluded = "the host MPI's own has other semantics for this call";
    native.nameable = false;
    return;
  }
  native.preferred = machine_.size > 1 && !native.measured && prefers_native();
  native.excluded = why_not_native(native);
}

std::vector<Candidate> Collection::take() && {
  sort_candidates(all_);
  return std::move(all_);
}

}  // namespace

Wiring wiring_of(const Machine& machine) {
  Wiring wiring;
  wiring.spread = schedules::spread_of(machine.node_of, machine.size);
  wiring.on_node = machine.on_node;
  wiring.several_nodes = machine.several_nodes || wiring.spread.nodes > 1;
  wiring.oversubscribed = machine.oversubscribed;
  return wiring;
}

std::string why_wrong(const Algorithm& algorithm, const Signature& signature, const Spread& spread) {
  if (!schedules::fits(algorithm, spread.size)) return "does not work for this number of ranks";
  if (algorithm.hierarchical && !schedules::meets(spread, algorithm.need))
    return algorithm.need == schedules::LayoutNeed::even ? "needs equally many ranks on all nodes"
                                                         : "needs the ranks of each node to follow one another";
  if (!combines(signature.operation)) return {};
  if (needs_single_combine(signature) && !(algorithm.single_combine && algorithm.ordered))
    return "combines in several steps, where this call asks for one rounding in rank order";
  const bool keeps_order =
      algorithm.ordered && (!algorithm.hierarchical || spread.adjacent || algorithm.single_combine);
  if (!signature.commutative && !keeps_order)
    return "does not keep the order of ranks, which an operation that does not commute asks for";
  return {};
}

void sort_candidates(std::vector<Candidate>& all) {
  const auto comes_first = [](const Candidate& a, const Candidate& b) {
    if (a.excluded.empty() != b.excluded.empty()) return a.excluded.empty();
    if (a.preferred != b.preferred) return a.preferred;
    if (a.measured != b.measured) return a.measured;
    return a.seconds < b.seconds;
  };
  std::stable_sort(all.begin(), all.end(), comes_first);
}

std::vector<Candidate> candidates(const Signature& signature, const Machine& machine) {
  if (signature.memory == MemoryClass::device) return device_candidates(signature, machine);
  Collection all(signature, machine);
  all.add_shm();
  all.add_schedules();
  all.add_native();
  return std::move(all).take();
}

bool may_block_inside_mpi(const Signature& signature, const Machine& machine) {
  return signature.kind == CallKind::blocking && machine.native_blocking && !machine.oversubscribed &&
         !signature.has_timeout;
}

bool needs_single_combine(const Signature& signature) {
  if (!combines(signature.operation) || signature.op == ReduceKind::user) return signature.reproducible;
  if (signature.reproducible) return true;
  const bool rounds = signature.op == ReduceKind::sum || signature.op == ReduceKind::prod ||
                      signature.op == ReduceKind::avg || signature.op == ReduceKind::premul_sum;
  return rounds && is_small_float(signature.type.kind()) && signature.accumulation == Accumulation::full;
}

}  // namespace tutti::detail
