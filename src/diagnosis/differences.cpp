// SPDX-License-Identifier: BSD-3-Clause
#include "diagnosis/differences.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "core/checksum.hpp"

namespace tutti::detail::flight {
namespace {

/// A call on one rank.
struct OnRank {
  const Snapshot* snapshot = nullptr;
  const SeenCall* call = nullptr;

  [[nodiscard]] const Summed& sums() const { return *call->sums; }
  [[nodiscard]] int world_rank() const { return snapshot->world_rank; }
};

/// A call on the ranks whose recorders have it, in their order in the communicator.
using OnRanks = std::map<int, OnRank>;
/// The number of a collective on its communicator, and that of its run, if it is persistent.
using CallNumber = std::pair<std::uint32_t, std::uint32_t>;
/// The calls of one communicator.
using Calls = std::map<CallNumber, OnRanks>;

std::map<std::uint64_t, Calls> calls_of(const Job& run) {
  std::map<std::uint64_t, Calls> all;
  for (const Snapshot& snapshot : run)
    for (const SeenCall& call : snapshot.calls)
      if (call.sums)
        all[call.sums->communicator][{call.facts.sequence, call.sums->run}][call.sums->rank] = {&snapshot, &call};
  return all;
}

/// The place of a communicator among those of a rank, which is the same in all runs of a program.
using CommunicatorPlace = std::pair<int, std::uint32_t>;

std::map<CommunicatorPlace, std::uint64_t> communicators_of(const Job& run) {
  std::map<CommunicatorPlace, std::uint64_t> all;
  for (const Snapshot& snapshot : run)
    for (const SeenCall& call : snapshot.calls)
      if (call.sums) all.try_emplace({snapshot.world_rank, call.facts.communicator}, call.sums->communicator);
  return all;
}

/// Whether two calls are the same but for their data and numbers of ranks.
bool is_alike(const SeenCall& a, const SeenCall& b) {
  const auto facts = [](const SeenCall& call) {
    return std::tuple(call.facts.call, call.facts.form, call.facts.type, call.facts.op, call.facts.peer);
  };
  return facts(a) == facts(b);
}

const OperationTraits* traits_of_call(const SeenCall& call) {
  return is_operation(call.facts.call) ? &traits_of(static_cast<Operation>(call.facts.call)) : nullptr;
}

bool has_equal_results(const OperationTraits& row) {
  return row.taken != BlockKind::none && row.root != RootPart::takes && !row.is_split() && !row.is_prefix();
}

// ---- of one run

void note_first(std::optional<Parting>& first, Parting&& next) {
  if (!first || next.time < first->time) first = std::move(next);
}

/// The difference of results that should be equal, if there is one.
std::optional<Parting> unequal(const OnRanks& ranks) {
  std::optional<Parting> parting;
  std::vector<int> equal;
  const OnRank* reference = nullptr;
  for (const auto& [rank, one] : ranks) {
    if (!one.call->has_taken) continue;
    if (reference == nullptr) reference = &one;
    const Digest& taken = one.sums().taken;
    if (taken.bytes != reference->sums().taken.bytes) continue;  // other counts: `tutti flight` names them
    const auto bytes = first_difference(reference->sums().taken, taken);
    if (!bytes) {
      equal.push_back(one.world_rank());
      continue;
    }
    if (!parting)
      parting = Parting{.kind = PartingKind::unequal,
                        .snapshot = one.snapshot,
                        .call = *one.call,
                        .other = *reference->call,
                        .bytes = bytes,
                        .time = one.call->end};
    parting->ranks.push_back(one.world_rank());
    parting->time = std::min(parting->time, one.call->end);
  }
  if (parting) parting->equal_ranks = std::move(equal);
  return parting;
}

// ---- of two runs with as many ranks

/// Compares one side of a call rank by rank.
template <typename SideOf>
std::optional<Parting> differing(PartingKind kind, const OnRanks& ones, const OnRanks& others, const SideOf& side) {
  std::optional<Parting> parting;
  std::vector<int> equal;
  for (const auto& [rank, one] : ones) {
    const auto found = others.find(rank);
    if (found == others.end()) continue;
    const OnRank& other = found->second;
    const bool is_taken = kind == PartingKind::taken;
    if (is_taken && !(one.call->has_taken && other.call->has_taken)) continue;
    const Digest& a = side(one.sums());
    const Digest& b = side(other.sums());
    if (a == b) {
      equal.push_back(one.world_rank());
      continue;
    }
    const std::int64_t time = is_taken ? one.call->end : one.call->begin;
    if (!parting || time < parting->time) {
      std::vector<int> ranks = parting ? std::move(parting->ranks) : std::vector<int>{};
      parting = Parting{.kind = kind,
                        .snapshot = one.snapshot,
                        .call = *one.call,
                        .other = *other.call,
                        .ranks = std::move(ranks),
                        .bytes = a.bytes == b.bytes ? first_difference(a, b) : std::nullopt,
                        .time = time};
    }
    parting->ranks.push_back(one.world_rank());
  }
  if (parting) parting->equal_ranks = std::move(equal);
  return parting;
}

Parting of_first_rank(PartingKind kind, const OnRanks& ones, const SeenCall& other) {
  const OnRank& one = ones.begin()->second;
  return {.kind = kind,
          .snapshot = one.snapshot,
          .call = *one.call,
          .other = other,
          .ranks = {one.world_rank()},
          .time = one.call->begin};
}

/// Compares what the calls before the first one that both runs hold have given.
std::optional<Parting> before(const OnRanks& ones, const OnRanks& others) {
  for (const auto& [rank, one] : ones) {
    const auto other = others.find(rank);
    if (other != others.end() && one.sums().history != other->second.sums().history)
      return Parting{.kind = PartingKind::before,
                     .snapshot = one.snapshot,
                     .call = *one.call,
                     .other = *other->second.call,
                     .ranks = {one.world_rank()},
                     .time = one.call->begin};
  }
  return std::nullopt;
}

std::optional<Parting> rank_by_rank(const OnRanks& ones, const OnRanks& others) {
  for (const auto& [rank, one] : ones)
    if (const auto other = others.find(rank); other != others.end() && !is_alike(*one.call, *other->second.call))
      return of_first_rank(PartingKind::call, ones, *other->second.call);
  auto given = differing(PartingKind::given, ones, others, [](const Summed& sums) { return sums.given; });
  if (given) return given;
  return differing(PartingKind::taken, ones, others, [](const Summed& sums) { return sums.taken; });
}

// ---- of two runs with other numbers of ranks

/// The data of a whole call, and the rank that stands for it. Beginnings are known only if one rank has all.
struct Whole {
  Digest digest{};
  OnRank of{};
  bool has_beginnings = true;
};

std::optional<Whole> of_rank(const OnRanks& ranks, int rank, bool taken) {
  const auto found = ranks.find(rank);
  if (found == ranks.end() || (taken && !found->second.call->has_taken)) return std::nullopt;
  const Summed& sums = found->second.sums();
  return Whole{taken ? sums.taken : sums.given, found->second};
}

/// The data of all ranks one after the other.
std::optional<Whole> of_all(const OnRanks& ranks, bool taken) {
  const OnRank& first = ranks.begin()->second;
  Whole whole{.of = first, .has_beginnings = false};
  if (static_cast<int>(ranks.size()) != first.sums().size) return std::nullopt;
  for (const auto& [rank, one] : ranks) {
    if (taken && !one.call->has_taken) return std::nullopt;
    const Digest& next = taken ? one.sums().taken : one.sums().given;
    whole.digest.checksum = joined(whole.digest.checksum, next.checksum, next.bytes);
    whole.digest.bytes += next.bytes;
  }
  return whole;
}

std::optional<Whole> whole_given(const OperationTraits& row, const OnRanks& ranks) {
  const int root = ranks.begin()->second.call->facts.peer;
  if (row.root == RootPart::gives) return of_rank(ranks, root, false);
  const bool gathers = row.combined == Combined::none && (row.given == BlockKind::one || row.given == BlockKind::own);
  return gathers ? of_all(ranks, false) : std::nullopt;
}

std::optional<Whole> whole_taken(const OperationTraits& row, const OnRanks& ranks) {
  const int root = ranks.begin()->second.call->facts.peer;
  if (row.root == RootPart::takes) return of_rank(ranks, root, true);
  if (has_equal_results(row)) return of_rank(ranks, ranks.begin()->first, true);
  const bool scatters = row.is_split() && (row.taken == BlockKind::one || row.taken == BlockKind::own);
  return scatters ? of_all(ranks, true) : std::nullopt;
}

/// Nothing if they are equal. has_meaning: set if there is something to compare.
std::optional<Parting> differing(PartingKind kind, const std::optional<Whole>& one, const std::optional<Whole>& other,
                                 bool& has_meaning) {
  if (!one || !other || one->digest.bytes != other->digest.bytes || one->digest.bytes == 0) return std::nullopt;
  has_meaning = true;
  if (one->digest == other->digest) return std::nullopt;
  Parting parting{.kind = kind,
                  .snapshot = one->of.snapshot,
                  .call = *one->of.call,
                  .other = *other->of.call,
                  .time = kind == PartingKind::taken ? one->of.call->end : one->of.call->begin};
  if (one->has_beginnings) parting.bytes = first_difference(one->digest, other->digest);
  return parting;
}

std::optional<Parting> as_a_whole(const OnRanks& ones, const OnRanks& others, bool& has_meaning) {
  const SeenCall& call = *ones.begin()->second.call;
  const SeenCall& other = *others.begin()->second.call;
  if (!is_alike(call, other)) return of_first_rank(PartingKind::call, ones, other);
  const OperationTraits* row = traits_of_call(call);
  if (row == nullptr) return std::nullopt;
  auto given = differing(PartingKind::given, whole_given(*row, ones), whole_given(*row, others), has_meaning);
  if (given) return given;
  return differing(PartingKind::taken, whole_taken(*row, ones), whole_taken(*row, others), has_meaning);
}

// ---- both

int size_of(const Calls& all) { return all.begin()->second.begin()->second.sums().size; }

void compare(const Calls& ones, const Calls& others, Comparison& comparison) {
  const bool is_same_size = size_of(ones) == size_of(others);
  bool is_first = true;
  for (const auto& [number, one] : ones) {
    const auto other = others.find(number);
    if (other == others.end()) continue;
    if (std::exchange(is_first, false) && is_same_size)
      if (auto parting = before(one, other->second)) note_first(comparison.parting, std::move(*parting));
    bool has_meaning = is_same_size;
    auto parting = is_same_size ? rank_by_rank(one, other->second) : as_a_whole(one, other->second, has_meaning);
    ++(has_meaning || parting ? comparison.compared : comparison.skipped);
    if (parting) note_first(comparison.parting, std::move(*parting));
  }
}

/// The first call that the other run does not make.
void note_end(const Calls& ones, const Calls& others, Comparison& comparison) {
  const auto next = ones.upper_bound(others.rbegin()->first);
  if (next == ones.end()) return;
  const SeenCall& last = *others.rbegin()->second.begin()->second.call;
  note_first(comparison.parting, of_first_rank(PartingKind::end, next->second, last));
}

}  // namespace

Comparison compare_ranks(const Job& run) {
  Comparison comparison;
  for (const auto& [mark, all] : calls_of(run))
    for (const auto& [number, ranks] : all) {
      const OperationTraits* row = traits_of_call(*ranks.begin()->second.call);
      if (row == nullptr || !has_equal_results(*row)) continue;
      ++comparison.compared;
      if (auto parting = unequal(ranks)) note_first(comparison.parting, std::move(*parting));
    }
  return comparison;
}

Comparison compare_runs(const Job& one, const Job& other) {
  Comparison comparison;
  const auto other_calls = calls_of(other);
  const auto other_communicators = communicators_of(other);
  std::vector<std::pair<const Calls*, const Calls*>> pairs;
  const auto own_calls = calls_of(one);
  std::map<std::uint64_t, bool> is_seen;
  for (const auto& [place, mark] : communicators_of(one)) {
    const auto found = other_communicators.find(place);
    if (found == other_communicators.end() || std::exchange(is_seen[mark], true)) continue;
    pairs.emplace_back(&own_calls.at(mark), &other_calls.at(found->second));
  }
  for (const auto& [ones, others] : pairs) compare(*ones, *others, comparison);
  if (comparison.parting) return comparison;
  for (const auto& [ones, others] : pairs) {
    note_end(*ones, *others, comparison);
    note_end(*others, *ones, comparison);
  }
  return comparison;
}

}  // namespace tutti::detail::flight
