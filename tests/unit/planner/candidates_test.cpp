// SPDX-License-Identifier: BSD-3-Clause
// What the planner knows of the ways to make a call, on machines that are not at hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <tutti/error.hpp>

#include "backends/shm/protocol.hpp"
#include "call/plan.hpp"
#include "call/schedule_rules.hpp"
#include "machines.hpp"
#include "planner/table.hpp"

namespace tutti::detail::test {
namespace {

using testing::HasSubstr;

tuning::Table table_of(const Signature& s, std::map<std::string, double, std::less<>> seconds) {
  tuning::Cell cell;
  cell.operation = s.operation;
  cell.kind = s.kind;
  cell.type = tuning::type_class_of(s);
  cell.bytes = tuning::bytes_of(s);
  cell.seconds = std::move(seconds);
  return tuning::Table({cell});
}

TEST(Candidates, ThoseThatCanBeChosenComeFirstAndByTime) {
  for (const Operation operation : operations)
    for (const CallKind kind : {CallKind::blocking, CallKind::nonblocking, CallKind::persistent})
      for (const Machine& m : {one_node(1), one_node(2), one_node(4), blocks(2, 4).machine()}) {
        const auto all = candidates(signature(operation, 1000, kind), m);
        ASSERT_FALSE(all.empty());
        EXPECT_TRUE(all.front().excluded.empty());
        for (std::size_t i = 1; i < all.size(); ++i) {
          const bool is_open = all[i].excluded.empty();
          const bool before_is_open = all[i - 1].excluded.empty();
          ASSERT_TRUE(before_is_open || !is_open) << all[i].name;
          if (is_open && !all[i - 1].preferred) {  // nothing is measured here
            EXPECT_GE(all[i].seconds, all[i - 1].seconds);
          }
          EXPECT_TRUE(all[i].nameable || !is_open) << all[i].name;
        }
      }
}

TEST(Candidates, SingleCopiesNeedTheKernelOrXpmem) {
  for (const bool by_kernel : {false, true})
    for (const bool by_xpmem : {false, true}) {
      Machine m = one_node(2);
      m.single_copy = by_kernel;
      m.mapped_copy = by_xpmem;
      const auto all = candidates(signature(Operation::allreduce, 1'000'000, CallKind::nonblocking), m);
      const Candidate* found = find(all, "shm:single_copy");
      ASSERT_NE(found, nullptr);
      EXPECT_EQ(found->nameable, by_kernel || by_xpmem);
    }
}

TEST(Candidates, ChosenOneIsThePlan) {
  for (const Operation operation : operations)
    for (const Machine& m : {one_node(1), one_node(4), blocks(2, 4).machine(), round_robin(3, 2).machine()}) {
      const Signature s = signature(operation, 5000);
      const auto all = candidates(s, m);
      const auto plan = make_plan(s, m);
      EXPECT_EQ(plan->backend, all.front().backend);
      EXPECT_EQ(plan->algorithm, all.front().algorithm);
    }
}

TEST(Candidates, SharedMemoryMakesEveryBlockingCallOfANode) {
  for (const Operation operation : operations)
    for (const std::size_t count : {1, 1000, 4'000'000})
      EXPECT_EQ(make_plan(signature(operation, count), one_node(2))->backend, &shm_backend)
          << operation_name(operation) << " of " << count;
}

// A rank may wait inside the host MPI for what others do after the call: a schedule of several rounds would hang.
TEST(Candidates, WhatMustGoOnAloneHasNoRoundsThatWaitForARank) {
  for (const Operation operation : operations)
    for (const CallKind kind : {CallKind::nonblocking, CallKind::persistent})
      for (const int size : {2, 3, 8, 64})
        for (const std::size_t count : {1, 10'000, 10'000'000})
          for (const Candidate& c : candidates(signature(operation, count, kind), one_node(size))) {
            if (!c.excluded.empty() || c.algorithm == nullptr) continue;
            EXPECT_LE(cost_of(*c.algorithm, size, 1.0).rounds, 1) << c.name << " for " << size << " ranks, " << count;
          }
}

Machine with_hook(Machine machine) {
  machine.progress_hook = true;
  return machine;
}

// A rank goes on inside the host MPI, so its own rounds may be the way where it must not be waited for.
TEST(Candidates, RoundsGoOnInsideTheHostThatHasAHook) {
  for (const Operation operation : operations)
    for (const CallKind kind : {CallKind::nonblocking, CallKind::persistent})
      for (const Machine& m : {blocks(2, 4).machine(), blocks(4, 1).machine()}) {
        const Signature s = signature(operation, 100'000, kind);
        const bool is_native = make_plan(s, m)->backend == &native_backend;
        EXPECT_EQ(make_plan(s, with_hook(m))->backend, &mpi_backend) << operation_name(operation);
        const auto all = candidates(s, with_hook(m));
        EXPECT_TRUE(all.front().carrier == Carrier::hook || all.front().carrier == Carrier::host_mpi);
        if (is_native) {
          EXPECT_THAT(find(all, "native")->excluded, HasSubstr("was not measured"));
        }
      }
}

TEST(Candidates, SharedMemoryNeedsNoSingleCopyWhereRanksGoOnInsideTheHost) {
  Machine m = one_node(4);
  m.single_copy = false;
  for (const Operation operation : operations)
    for (const CallKind kind : {CallKind::nonblocking, CallKind::persistent}) {
      const Signature s = signature(operation, 100'000, kind);
      if (operation == Operation::barrier) continue;
      EXPECT_NE(make_plan(s, m)->backend, &shm_backend) << operation_name(operation);
      EXPECT_EQ(make_plan(s, with_hook(m))->backend, &shm_backend) << operation_name(operation);
      EXPECT_EQ(candidates(s, with_hook(m)).front().carrier, Carrier::hook);
    }
  // Stream buffers are those of blocking calls, which ranks make one after the other.
  const Signature s = signature(Operation::allreduce, 100'000, CallKind::nonblocking);
  for (const char* name : {"shm:stream", "shm:parts"}) {
    const auto all = candidates(s, with_hook(m));
    EXPECT_FALSE(find(all, name)->nameable) << name;
  }
}

// A rank may compute for long, so those who wait should need nothing of it, unless that was measured as slower.
TEST(Candidates, WhatGoesOnWithoutARankComesFirst) {
  for (const Operation operation : operations)
    for (const CallKind kind : {CallKind::nonblocking, CallKind::persistent})
      for (const int size : {2, 64})
        for (const std::size_t count : {1, 10'000, 10'000'000}) {
          const auto all = candidates(signature(operation, count, kind), with_hook(one_node(size)));
          EXPECT_EQ(all.front().carrier, Carrier::others) << all.front().name << " for " << size << " ranks, " << count;
        }
  const Signature s = signature(Operation::allreduce, 4, CallKind::nonblocking);
  Machine m = with_hook(one_node(2));
  const tuning::Table slower = table_of(s, {{"mpi:ring", 9e-6}, {"shm:line", 1e-6}});
  m.measured = &slower;
  EXPECT_THAT(find(candidates(s, m), "mpi:ring")->excluded, HasSubstr("shared memory is faster"));
  const tuning::Table faster = table_of(s, {{"mpi:ring", 1e-9}, {"shm:line", 1e-6}});
  m.measured = &faster;
  EXPECT_EQ(make_plan(s, m)->algorithm->name, "ring");
  m.progress_hook = false;
  EXPECT_EQ(make_plan(s, m)->backend, &shm_backend);
  // A tree is one more way of that kind.
  const auto all = candidates(s, with_hook(one_node(64)));
  EXPECT_EQ(find(all, "shm:tree")->carrier, Carrier::hook);
  EXPECT_TRUE(find(all, "shm:tree")->nameable);
}

// The first messages of a communicator wait for one of their own, which all ranks make by calls of the library.
TEST(Candidates, WhatMustGoOnAloneSendsNothingWhereSharedMemoryCarriesAll) {
  Machine crowded = one_node(6);
  crowded.oversubscribed = true;
  Machine copies_twice = crowded;
  copies_twice.single_copy = false;
  EXPECT_FALSE(sends_from_the_start(crowded));
  EXPECT_TRUE(sends_from_the_start(copies_twice));
  for (const Operation operation : operations)
    for (const CallKind kind : {CallKind::nonblocking, CallKind::persistent})
      for (const std::size_t count : {0, 1, 1000, 1'000'000})
        EXPECT_EQ(make_plan(signature(operation, count, kind), crowded)->backend, &shm_backend)
            << operation_name(operation) << " of " << count;
}

TEST(Candidates, SharedMemoryIsRightInReproducibleModeAndForAnyOperation) {
  Signature s = signature(Operation::allreduce, 100);
  s.reproducible = true;
  EXPECT_EQ(make_plan(s, one_node(2))->backend, &shm_backend);
  s.reproducible = false;
  s.op = ReduceKind::user;
  s.commutative = false;
  EXPECT_EQ(make_plan(s, one_node(2))->backend, &shm_backend);
  s.op = ReduceKind::sum;
  s.type = DatatypeKind::bfloat16;
  EXPECT_EQ(make_plan(s, one_node(2))->backend, &shm_backend);
}

TEST(Candidates, OneRankCopies) {
  for (const Operation operation : operations)
    for (const char* name : {"", "shm", "native", "mpi"}) {
      Signature s = signature(operation, 10);
      s.algorithm = name;
      EXPECT_EQ(make_plan(s, one_node(1))->backend, &mpi_backend) << name;
    }
}

TEST(Candidates, HostsOwnNeedsAMeasurementWhereMemoryIsShared) {
  const Signature s = signature(Operation::allreduce, 4, CallKind::nonblocking);
  Machine m = one_node(2);
  EXPECT_EQ(make_plan(s, m)->backend, &shm_backend);
  EXPECT_THAT(find(candidates(s, m), "native")->excluded, HasSubstr("not measured"));
  const tuning::Table slower = table_of(s, {{"native", 9e-6}, {"shm:line", 1e-6}, {"shm:slots", 2e-6}});
  m.measured = &slower;
  EXPECT_EQ(make_plan(s, m)->backend, &shm_backend);
  const tuning::Table faster = table_of(s, {{"native", 1e-9}, {"shm:line", 1e-6}, {"shm:slots", 2e-6}});
  m.measured = &faster;
  EXPECT_EQ(make_plan(s, m)->backend, &native_backend);
  EXPECT_TRUE(candidates(s, m).front().measured);
}

TEST(Candidates, WhatWasMeasuredGoesBeforeWhatIsPredicted) {
  const Signature s = signature(Operation::allreduce, 4);
  const tuning::Table table = table_of(s, {{"shm:slots", 1e-3}, {"mpi:ring", 2e-3}});
  Machine m = one_node(2);
  m.measured = &table;
  const auto all = candidates(s, m);
  EXPECT_EQ(all[0].name, "shm:slots");
  EXPECT_EQ(all[1].name, "mpi:ring");
  EXPECT_FALSE(all[2].measured);
}

TEST(Candidates, BlockingInsideTheHostTakesPermissionAlsoIfMeasured) {
  const Signature s = signature(Operation::allreduce, 4);
  const tuning::Table faster = table_of(s, {{"native", 1e-9}});
  Machine m = one_node(2);
  m.measured = &faster;
  EXPECT_EQ(make_plan(s, m)->backend, &shm_backend);
  m.native_blocking = true;
  EXPECT_EQ(make_plan(s, m)->backend, &native_backend);
}

TEST(Candidates, HostsOwnIsLeftOutWhereRanksGoOnWithoutOne) {
  for (const CallKind kind : {CallKind::blocking, CallKind::nonblocking}) {
    Signature s = signature(Operation::allreduce, 100'000, kind);
    const tuning::Table faster = table_of(s, {{"native", 1e-9}});
    Machine m = one_node(4);
    m.shared_memory = false;
    m.native_blocking = true;
    for (const Measurements* measured : {static_cast<const tuning::Table*>(nullptr), &faster}) {
      m.measured = measured;
      m.heartbeat = false;
      EXPECT_EQ(make_plan(s, m)->backend, &native_backend);
      m.heartbeat = true;
      EXPECT_EQ(make_plan(s, m)->backend, &mpi_backend);
      EXPECT_THAT(find(candidates(s, m), "native")->excluded, HasSubstr("cannot be taken back"));
    }
    s.algorithm = "native";
    EXPECT_EQ(make_plan(s, m)->backend, &native_backend);
  }
}

TEST(Candidates, HostsOwnIsNotAskedForReductionsItGetsWrong) {
  Signature s = signature(Operation::allreduce, 100'000, CallKind::nonblocking);
  s.type = DatatypeKind::uint32;
  s.op = ReduceKind::max;
  Machine m = one_node(4);
  m.shared_memory = false;
  EXPECT_EQ(make_plan(s, m)->backend, &native_backend);
  m.reduction_faults.add(ReduceKind::max, DatatypeKind::uint32);
  EXPECT_EQ(make_plan(s, m)->backend, &mpi_backend);
  EXPECT_THAT(find(candidates(s, m), "native")->excluded, HasSubstr("the max of uint32 wrongly"));
  s.algorithm = "native";
  EXPECT_THROW((void)make_plan(s, m), Error);
  s.type = DatatypeKind::int32;
  EXPECT_EQ(make_plan(s, m)->backend, &native_backend);
}

// A NaN decides differently there; pairs of integers have none.
TEST(Candidates, HostsOwnFindsTheLocationOfIntegersOnly) {
  Machine m = one_node(4);
  m.shared_memory = false;
  Signature s = signature(Operation::allreduce, 1000, CallKind::nonblocking);
  for (const ReduceKind op : {ReduceKind::minloc, ReduceKind::maxloc}) {
    s.op = op;
    s.type = DatatypeKind::int32_int32;
    EXPECT_EQ(make_plan(s, m)->backend, &native_backend);
    s.type = DatatypeKind::float32_int32;
    EXPECT_EQ(make_plan(s, m)->backend, &mpi_backend);
  }
}

// A call that waits inside the host MPI could not end by its timeout.
TEST(Candidates, ACallWithATimeoutNeverBlocksInsideTheHost) {
  Signature s = signature(Operation::allreduce, 4);
  const tuning::Table faster = table_of(s, {{"native", 1e-9}});
  Machine m = one_node(2);
  m.measured = &faster;
  m.native_blocking = true;
  EXPECT_EQ(make_plan(s, m)->backend, &native_backend);
  s.has_timeout = true;
  EXPECT_EQ(make_plan(s, m)->backend, &shm_backend);
  m.shared_memory = false;
  m.measured = nullptr;
  EXPECT_EQ(make_plan(s, m)->backend, &mpi_backend);
}

TEST(Candidates, MeasuredTimesReplacePredictedOnes) {
  const Signature s = signature(Operation::allreduce, 1000);
  Machine m = one_node(4);
  m.shared_memory = false;
  const std::string usual = candidates(s, m).front().name;
  const std::string other = usual == "mpi:ring" ? "mpi:rabenseifner" : "mpi:ring";
  const tuning::Table table = table_of(s, {{other, 1e-9}});
  m.measured = &table;
  EXPECT_EQ(candidates(s, m).front().name, other);
  EXPECT_EQ("mpi:" + std::string(make_plan(s, m)->algorithm->name), other);
}

// A trial changes the way of a call from one call to the next, which must not change the bits of a sum.
TEST(Candidates, ATrialOfSumsHasNoWayThatAssociatesDifferently) {
  bool could_be_tried = false;
  for (const int size : {4, 8, 16, 64})
    for (const bool is_crowded : {false, true}) {
      Machine m = one_node(size);
      m.oversubscribed = is_crowded;
      const Signature s = signature(Operation::allreduce, 4);
      const auto all = candidates(s, m);
      const Candidate* tree = find(all, "shm:tree");
      const Candidate& other = tree == &all.front() ? all[1] : all.front();
      could_be_tried |= tree->can_be_chosen() && other.can_be_chosen() && tree->seconds < 2 * other.seconds &&
                        other.seconds < 2 * tree->seconds;
      const auto ways = ways_to_try(s, m);
      for (const auto& way : ways) EXPECT_NE(way->way, "shm:tree") << size << " ranks";
      EXPECT_TRUE(tree != &all.front() || ways.empty()) << size << " ranks";
    }
  EXPECT_TRUE(could_be_tried);
}

TEST(Candidates, NamesOfBackendsAndOfWays) {
  Signature s = signature(Operation::allreduce, 4);
  const Machine m = one_node(2);
  const auto backend_of = [&](const char* name) {
    s.algorithm = name;
    return make_plan(s, m)->backend;
  };
  EXPECT_EQ(backend_of("shm"), &shm_backend);
  EXPECT_EQ(backend_of("shm:slots"), &shm_backend);
  EXPECT_EQ(make_plan(s, m)->protocol, static_cast<std::uint8_t>(shm::Protocol::slots));
  EXPECT_EQ(backend_of("mpi"), &mpi_backend);
  EXPECT_EQ(backend_of("ring"), &mpi_backend);
  EXPECT_EQ(make_plan(s, m)->algorithm->name, "ring");
  EXPECT_EQ(backend_of("mpi:ring"), &mpi_backend);
  EXPECT_EQ(backend_of("native"), &native_backend);
}

std::optional<std::string> refusal(Signature s, const char* name, const Machine& m) {
  s.algorithm = name;
  try {
    (void)make_plan(s, m);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::invalid_algorithm);
    return e.what();
  }
  return std::nullopt;
}

TEST(Candidates, RefusalsSayWhyAndListWhatIsValid) {
  const Signature s = signature(Operation::allreduce, 1'000'000);
  Machine without = one_node(4);
  without.shared_memory = false;
  EXPECT_THAT(refusal(s, "shm", without).value_or(""), HasSubstr("do not share memory"));
  EXPECT_THAT(refusal(s, "shm:line", one_node(4)).value_or(""), HasSubstr("too long"));
  EXPECT_THAT(refusal(s, "rnig", one_node(4)).value_or(""),
              testing::AllOf(HasSubstr("'rnig'"), HasSubstr("ring"), HasSubstr("shm:slots"), HasSubstr("native")));
  EXPECT_EQ(refusal(s, "rnig", without).value_or("").find("shm"), std::string::npos);
  Signature reproducible = s;
  reproducible.reproducible = true;
  EXPECT_THAT(refusal(reproducible, "ring", one_node(4)).value_or(""), HasSubstr("one rounding"));
  EXPECT_THAT(refusal(reproducible, "native", one_node(4)).value_or(""), HasSubstr("different semantics"));
}

TEST(Candidates, WhatIsMadeForFewRanksGoesByName) {
  Machine m;
  m.size = 64;
  const Signature s = signature(Operation::allreduce, 1);
  const auto all = candidates(s, m);
  const Candidate* direct = find(all, "mpi:direct");
  ASSERT_NE(direct, nullptr);
  EXPECT_THAT(direct->excluded, HasSubstr("at most 16"));
  EXPECT_TRUE(direct->nameable);
  EXPECT_EQ(refusal(s, "direct", m), std::nullopt);
}

// MPIs copy as the kernel does.
TEST(Candidates, MessagesOfWhatTheCachesHaveLostTakeLonger) {
  const auto added = [](const Signature& s, Machine m) {
    const auto seconds = [&] { return find(candidates(s, m), "mpi:ring")->seconds; };
    m.costs.kernel_cold_byte = m.costs.kernel_busy_far_byte;
    const double warm = seconds();
    m.costs.kernel_cold_byte *= 4;
    return seconds() / warm - 1;
  };
  EXPECT_GT(added(signature(Operation::allgather, 1 << 22), one_node(4)), 0.1);
  EXPECT_LT(added(signature(Operation::allgather, 1 << 8), one_node(4)), 0.01);
  EXPECT_EQ(added(signature(Operation::allgather, 1 << 22), blocks(2, 2).machine()), 0) << "of one node alone";
}

TEST(Candidates, ReductionsOfWhatTheCachesHaveLostTakeLonger) {
  const auto seconds = [](const char* algorithm, std::size_t count, double far_copy) {
    Machine m = blocks(2, 2).machine();
    m.costs.far_copy = far_copy;
    return find(candidates(signature(Operation::allreduce, count), m), algorithm)->seconds;
  };
  const double warm = detail::typical_costs.combine;
  const auto added = [&](const char* algorithm, std::size_t count) {
    return seconds(algorithm, count, warm + 1e-9) - seconds(algorithm, count, warm);
  };
  // Each rank reads operands of 4 times its vector of 16 MiB, of which no cache holds anything.
  constexpr double vector = 1 << 24;
  EXPECT_NEAR(added("mpi:recursive_doubling", 1 << 22), 4 * vector * 1e-9, 1e-9);
  // Around a ring the caches still hold some of what a rank takes in a round, half of its operands.
  const double lost = vector / 4 * 2 * detail::typical_costs.cache_part;
  EXPECT_NEAR(added("mpi:ring", 1 << 22), 1.5 * vector * 1e-9 * (1 + lost) / 2, 1e-9);
  // Of what is halved from round to round, the more the longer it is.
  const double longest = vector / 2 * 2 * detail::typical_costs.cache_part;
  EXPECT_NEAR(added("mpi:rabenseifner", 1 << 22), 1.5 * vector * 1e-9 * (2 - 1 / longest / 3) / 2, 1e-9);
  EXPECT_NEAR(added("mpi:ring", 1 << 8), 0, 1e-9);
  EXPECT_EQ(seconds("mpi:ring", 1 << 22, warm / 2), seconds("mpi:ring", 1 << 22, warm));
}

// Each length has its own cost, and those between two lengths depend on both.
TEST(Messages, CostByTheirLength) {
  const auto seconds_of = [](std::size_t bytes, double Costs::*cost, double factor, DatatypeKind type) {
    Machine m = one_node(2);
    m.costs.*cost *= factor;
    Signature s = signature(Operation::allreduce, 1);
    s.type = type;
    s.count = bytes / s.type.size();
    return find(candidates(s, m), "mpi:direct")->seconds;
  };
  const auto depends = [&](std::size_t bytes, double Costs::*cost) {
    return seconds_of(bytes, cost, 2, DatatypeKind::float32) > seconds_of(bytes, cost, 1, DatatypeKind::float32);
  };
  constexpr std::size_t kib = 1024;
  for (const auto& [bytes, by_short, by_long] : {std::tuple{kib, true, false},
                                                 {4 * kib, true, false},
                                                 {16 * kib, true, true},
                                                 {256 * kib, true, true},
                                                 {1024 * kib, false, true},
                                                 {4096 * kib, false, true}}) {
    EXPECT_EQ(depends(bytes, &Costs::message_short_byte), by_short) << bytes;
    EXPECT_EQ(depends(bytes, &Costs::message_byte), by_long) << bytes;
  }
  const auto narrow = [&](DatatypeKind type) { return seconds_of(64 * kib, &Costs::combine_narrow, 20, type); };
  EXPECT_GT(narrow(DatatypeKind::bfloat16), 2 * narrow(DatatypeKind::float32));
  EXPECT_NEAR(narrow(DatatypeKind::int16), narrow(DatatypeKind::float32), 1e-9);
}

}  // namespace
}  // namespace tutti::detail::test
