// SPDX-License-Identifier: BSD-3-Clause
#include "diagnosis/differences.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <tutti/datatype.hpp>
#include <vector>

namespace tutti::detail::flight {
namespace {

using Data = std::vector<double>;

Digest digest(const Data& data, std::size_t cut = 0) {
  const Bytes all = std::as_bytes(std::span(data));
  const std::vector<Bytes> blocks{all.first(8 * cut), {}, all.subspan(8 * cut)};
  return digest_of(blocks);
}

Data numbers(std::size_t n) {
  Data data(n);
  std::iota(data.begin(), data.end(), 1.0);
  return data;
}

/// A call of one rank in a run of the test.
struct Made {
  Call call = Call::allreduce;
  std::uint64_t communicator = 1;
  std::uint32_t sequence = 1;
  std::int64_t begin = 0;
  Data given{};
  Data taken{};
};

/// A run whose ranks have made calls.
Job run_of(const std::vector<std::vector<Made>>& ranks, std::uint64_t marks = 100) {
  Job run;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    Snapshot snapshot;
    snapshot.world_rank = static_cast<int>(rank);
    for (std::uint32_t i = 0; i < 3; ++i) snapshot.communicators.push_back({.number = i, .name = std::to_string(i)});
    Summed sums;
    for (const Made& made : ranks[rank]) {
      SeenCall call;
      call.facts = {.bytes = 8 * made.given.size(),
                    .communicator = static_cast<std::uint32_t>(made.communicator),
                    .sequence = made.sequence,
                    .peer = made.call == Call::bcast ? 0 : -1,
                    .call = made.call,
                    .type = static_cast<std::uint8_t>(DatatypeKind::float64)};
      call.state = State::done;
      call.begin = made.begin;
      call.end = made.begin + 5;
      sums.follow(digest(made.given), 1);
      sums.communicator = marks + made.communicator;
      sums.rank = static_cast<int>(rank);
      sums.size = static_cast<int>(ranks.size());
      call.sums = sums;
      call.sums->taken = digest(made.taken);
      call.has_taken = true;
      snapshot.calls.push_back(call);
    }
    run.push_back(snapshot);
  }
  return run;
}

TEST(Digest, FindsThePieceThatDiffersFirst) {
  for (const std::size_t n : {std::size_t{1}, std::size_t{2}, std::size_t{5}, std::size_t{16}, std::size_t{333}}) {
    const Data data = numbers(n);
    EXPECT_FALSE(first_difference(digest(data), digest(data)));
    for (std::size_t i = 0; i < n; ++i) {
      Data other = data;
      other[i] += 0.5;
      other.back() += 0.5;
      const auto found = first_difference(digest(data), digest(other));
      ASSERT_TRUE(found) << n << " " << i;
      // The byte of a number that changes is one of its last two.
      EXPECT_LT(found->begin, 8 * (i + 1)) << n << " " << i;
      EXPECT_GT(found->end, 8 * i + 4) << n << " " << i;
      EXPECT_LE(found->end - found->begin, 8 * n / 16 + 1) << n << " " << i;
    }
  }
}

TEST(Digest, DoesNotDependOnTheCut) {
  const Data data = numbers(100);
  for (std::size_t cut = 0; cut <= 100; ++cut) {
    EXPECT_EQ(digest(data, cut), digest(data)) << cut;
    EXPECT_EQ(digest(data, cut).beginnings, digest(data).beginnings) << cut;
  }
}

// Rank 1 gives other data to the first communicator later than rank 0 to the second, though the call of rank 0 there
// begins first of all.
TEST(Differences, NameTheEarliestOne) {
  const Data x = numbers(20);
  Data bad = x;
  bad[7] = 0;
  const auto made = [&](const Data& early, const Data& late, const Data& result) {
    return std::vector<std::vector<Made>>{{{.sequence = 1, .begin = 1, .given = x, .taken = result}},
                                          {{.communicator = 2, .sequence = 1, .begin = 10, .given = early, .taken = x},
                                           {.sequence = 1, .begin = 20, .given = late, .taken = result}}};
  };
  const Job good = run_of(made(x, x, x));
  Job other = run_of(made(x, x, x), 500);
  EXPECT_FALSE(compare_runs(good, other).parting);
  other = run_of(made(bad, bad, bad), 500);
  auto found = compare_runs(good, other).parting;
  ASSERT_TRUE(found);
  EXPECT_EQ(found->call.facts.communicator, 2U);
  EXPECT_EQ(found->time, 10);
  other = run_of(made(x, bad, bad), 500);
  found = compare_runs(good, other).parting;
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, PartingKind::given);
  EXPECT_EQ(found->ranks, std::vector<int>{1});
  EXPECT_EQ(found->equal_ranks, std::vector<int>{0});
  EXPECT_LE(elements_of(*found).begin, 7U);
  EXPECT_GT(elements_of(*found).end, 7U);
  other = run_of(made(x, x, bad), 500);
  found = compare_runs(good, other).parting;
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, PartingKind::taken);
  EXPECT_EQ(found->ranks, (std::vector<int>{0, 1}));
}

TEST(Differences, JoinTheDataOfRanks) {
  const Data x = numbers(12);
  const auto gathered = [&](std::size_t ranks, double last) {
    std::vector<std::vector<Made>> made;
    for (std::size_t r = 0; r < ranks; ++r) {
      Data own(x.begin() + static_cast<std::ptrdiff_t>(r * 12 / ranks),
               x.begin() + static_cast<std::ptrdiff_t>((r + 1) * 12 / ranks));
      if (r + 1 == ranks) own.back() += last;
      made.push_back({{.call = Call::allgather, .given = own, .taken = x},
                      {.call = Call::alltoall, .sequence = 2, .given = own, .taken = own}});
    }
    return run_of(made);
  };
  const Job two = gathered(2, 0);
  const Job three = gathered(3, 0);
  const Job faulty = gathered(3, 1);
  const Comparison equal = compare_runs(two, three);
  EXPECT_FALSE(equal.parting);
  EXPECT_EQ(equal.compared, 1U);
  EXPECT_EQ(equal.skipped, 1U);
  const Comparison other = compare_runs(two, faulty);
  ASSERT_TRUE(other.parting);
  EXPECT_EQ(other.parting->kind, PartingKind::given);
  EXPECT_NE(parting_text(*other.parting).find("allgather #1"), std::string::npos) << parting_text(*other.parting);
}

TEST(Differences, AreFoundWithinARun) {
  const Data x = numbers(16);
  Data bad = x;
  bad[15] = 0;
  Job run;
  const auto taken = [&](Call call, const Data& second) {
    run = run_of({{{.call = call, .taken = x}}, {{.call = call, .taken = second}}});
    return compare_ranks(run).parting;
  };
  EXPECT_FALSE(taken(Call::allreduce, x));
  for (const Call call : {Call::allreduce, Call::bcast, Call::allgather, Call::allgatherv})
    EXPECT_TRUE(taken(call, bad));
  for (const Call call : {Call::scan, Call::alltoall, Call::scatter, Call::reduce, Call::neighbor_allgather})
    EXPECT_FALSE(taken(call, bad));
  EXPECT_EQ(elements_of(*taken(Call::allreduce, bad)).begin, 15U);
}

TEST(Differences, SayWhatTheRingHasLost) {
  const Data x = numbers(3);
  std::vector<Made> all;
  for (std::uint32_t i = 1; i <= 4; ++i) all.push_back({.sequence = i, .begin = i, .given = x, .taken = x});
  std::vector<Made> faulty = all;
  faulty[1].given[0] = 7;
  Job one = run_of({all});
  Job other = run_of({faulty}, 200);
  other.front().calls.erase(other.front().calls.begin(), other.front().calls.begin() + 2);
  const auto found = compare_runs(one, other).parting;
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, PartingKind::before);
  EXPECT_EQ(found->call.facts.sequence, 3U);
  one.front().calls.pop_back();
  other = run_of({all}, 200);
  ASSERT_TRUE(compare_runs(one, other).parting);
  EXPECT_EQ(compare_runs(one, other).parting->kind, PartingKind::end);
  EXPECT_EQ(compare_runs(other, one).parting->call.facts.sequence, 4U);
}

}  // namespace
}  // namespace tutti::detail::flight
