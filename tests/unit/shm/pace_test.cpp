// SPDX-License-Identifier: BSD-3-Clause
#include "backends/shm/calibrate.hpp"

#include <gtest/gtest.h>

#include "backends/shm/model.hpp"
#include "example.hpp"
#include "rows.hpp"

namespace tutti::test {
namespace {

using namespace detail::shm;

constexpr double short_byte = 140e-12;
constexpr double long_byte = 55e-12;
constexpr auto shorter = static_cast<double>(short_piece);
constexpr auto longer = static_cast<double>(long_piece);

TEST(Pace, GivesTheTimesThatWereMeasured) {
  const Pace pace = pace_of(short_byte, long_byte);
  EXPECT_NEAR(pace.seconds(shorter, 1), shorter * short_byte, 1e-15);
  EXPECT_NEAR(pace.seconds(longer, 1), longer * long_byte, 1e-15);
  EXPECT_NEAR(pace.seconds(shorter / 4, 1), shorter / 4 * short_byte, 1e-15) << "no other lines";
  EXPECT_NEAR(pace.seconds(longer, longer / shorter), longer * short_byte, 1e-15) << "each chunk has its start";
  EXPECT_EQ(pace.seconds(0, 1), 0);
}

TEST(Pace, HasNoStartWhereLongChunksAreSlower) {
  const Pace pace = pace_of(long_byte, short_byte);
  EXPECT_EQ(pace.start, 0);
  EXPECT_NEAR(pace.seconds(shorter, 1), shorter * short_byte, 1e-15);
}

TEST(Pace, OfALongerRingHasTheSameStart) {
  const Pace near = pace_of(short_byte, long_byte);
  const Pace pace = further(near, 2 * long_byte);
  EXPECT_EQ(pace.start, near.start);
  EXPECT_NEAR(pace.seconds(longer, 1), longer * 2 * long_byte, 1e-15);
  EXPECT_GE(further(near, 0).seconds(longer, 1), near.start) << "a byte costs nothing less than nothing";
}

double seconds_of(Protocol protocol, Datatype type, const detail::Machine& machine, std::size_t bytes) {
  return predict(protocol, signature_of(Operation::allreduce, bytes / type.size(), type), machine);
}

// Integers are added as they are.
TEST(Pace, ConversionsAreOfSmallFloats) {
  detail::Machine machine;
  machine.size = 2;
  machine.single_copy = true;
  machine.costs.combine_narrow = 10 * machine.costs.combine;
  constexpr std::size_t bytes = 1 << 20;
  for (const Protocol protocol : {Protocol::stream, Protocol::wide, Protocol::single_copy, Protocol::parts}) {
    const double wide = seconds_of(protocol, DatatypeKind::float32, machine, bytes);
    for (const DatatypeKind same : {DatatypeKind::int8, DatatypeKind::int16, DatatypeKind::uint16})
      EXPECT_NEAR(seconds_of(protocol, same, machine, bytes), wide, 1e-6 * wide) << protocol_name(protocol);
    EXPECT_GT(seconds_of(protocol, DatatypeKind::bfloat16, machine, bytes),
              wide + 0.8 * bytes * machine.costs.combine_narrow)
        << protocol_name(protocol);
  }
}

TEST(Pace, LongCopiesGoBeyondTheLastCaches) {
  detail::Machine machine;
  machine.size = 2;
  constexpr std::size_t bytes = std::size_t{64} << 20U;
  machine.costs.cache_part = 1e-12;
  const double held = seconds_of(Protocol::stream, DatatypeKind::float32, machine, bytes);
  machine.costs.cache_part = 1e-7;
  machine.costs.kernel_cold_byte = 2 * machine.costs.far_copy;
  EXPECT_GT(seconds_of(Protocol::stream, DatatypeKind::float32, machine, bytes), held);
}

// Of many givers the taker reads a chunk each.
TEST(Pace, EachChunkThatATakerReadsHasItsStart) {
  detail::Machine machine;
  machine.single_copy = true;
  machine.size = 8;
  machine.costs.slot_read = machine.costs.slot_write = 0.25e-9;
  machine.costs.stream_read = machine.costs.stream_write = 0.1e-9;
  const std::size_t with_starts = longest_in_slot(signature_of(Operation::gatherv, 0), machine);
  machine.costs.slot_read = machine.costs.slot_write = machine.costs.stream_read;
  EXPECT_LT(with_starts, longest_in_slot(signature_of(Operation::gatherv, 0), machine));
}

// A giver that has written its block makes its next call; a single copy keeps it until its taker has read.
TEST(Pace, OneWayTheSlowerOfGiverAndTakerCounts) {
  const auto longest = [](Operation operation, double write) {
    detail::Machine machine;
    machine.size = 2;
    machine.single_copy = true;
    machine.costs.slot_read = machine.costs.stream_read = 0.25e-9;
    machine.costs.slot_write = machine.costs.stream_write = write;
    return longest_in_slot(signature_of(operation, 0), machine);
  };
  for (const Operation operation : {Operation::gatherv, Operation::scatterv}) {
    EXPECT_EQ(longest(operation, 0.1e-9), longest(operation, 0.2e-9)) << "the giver is ahead of its taker";
    EXPECT_GT(longest(operation, 0.1e-9), longest(operation, 0.4e-9)) << "the taker waits for its giver";
  }
  EXPECT_GT(longest(Operation::alltoallv, 0.1e-9), longest(Operation::alltoallv, 0.2e-9)) << "each rank does both";
}

// What two ranks hand over costs the same, whatever it is called.
TEST(Pace, AnExclusiveScanOfTwoRanksCostsABroadcast) {
  detail::Machine machine;
  machine.size = 2;
  machine.single_copy = true;
  machine.costs.cache_part = 0;  // an exclusive scan has two buffers a rank
  for (const Protocol protocol : {Protocol::line, Protocol::slots, Protocol::stream, Protocol::single_copy})
    for (const std::size_t count : {1U, 1U << 20U}) {
      const double bcast = predict(protocol, signature_of(Operation::bcast, count), machine);
      EXPECT_NEAR(predict(protocol, signature_of(Operation::exscan, count), machine), bcast, 1e-9 * bcast)
          << protocol_name(protocol) << ' ' << count;
    }
}

TEST(Pace, BlocksOfVFormsTakeSlotsUntilASingleCopyIsFaster) {
  detail::Machine machine;
  machine.single_copy = true;
  for (const Operation operation :
       {Operation::gatherv, Operation::scatterv, Operation::allgatherv, Operation::alltoallv})
    for (const int size : {2, 8}) {
      machine.size = size;
      machine.costs = {};
      const Signature signature = signature_of(operation, 0);
      std::size_t before = 0;
      for (const double call : {0.0, 0.4e-6, 0.8e-6, 1.6e-6}) {
        machine.costs.kernel_call = machine.costs.kernel_busy_call = call;
        const std::size_t longest = longest_in_slot(signature, machine);
        EXPECT_GE(longest, before) << "a dearer call of the kernel leaves more to slots";
        before = longest;
      }
      machine.costs.kernel_call = machine.costs.kernel_busy_call = 1e-3;
      EXPECT_EQ(longest_in_slot(signature, machine), slot_bytes);
      machine.costs.kernel_call = machine.costs.kernel_busy_call = machine.costs.line = 0;
      machine.costs.kernel_byte = machine.costs.kernel_busy_byte = machine.costs.copy = 1e-15;
      EXPECT_EQ(longest_in_slot(signature, machine), 0U);
    }
}

}  // namespace
}  // namespace tutti::test
