// SPDX-License-Identifier: BSD-3-Clause
#include "backends/shm/model.hpp"
#include "backends/shm/registry.hpp"

#include <gtest/gtest.h>

#include "backends/shm/chunks.hpp"
#include "backends/shm/layout.hpp"
#include "example.hpp"
#include "rows.hpp"

namespace tutti::test {
namespace {

using namespace detail::shm;

constexpr std::size_t line_floats = line_bytes / sizeof(float);
constexpr std::size_t slot_floats = slot_bytes / sizeof(float);

detail::Signature a_piece(detail::Signature signature) {
  signature.is_piece = true;
  return signature;
}

TEST(Protocol, PublishedBytesCountEveryBlockOnce) {
  constexpr int size = 4;
  const auto bytes = [](Operation operation) { return published_bytes(signature_of(operation, 10), size); };
  EXPECT_EQ(bytes(Operation::barrier), 0U);
  for (const Operation one : {Operation::bcast, Operation::allreduce, Operation::reduce, Operation::scan,
                              Operation::exscan, Operation::gather, Operation::allgather})
    EXPECT_EQ(bytes(one), 40U);
  for (const Operation split : {Operation::scatter, Operation::alltoall, Operation::reduce_scatter_block})
    EXPECT_EQ(bytes(split), 160U);
  EXPECT_EQ(bytes(Operation::reduce_scatter), 40U) << "its count is that of all blocks together";
  for (const Operation varying : {Operation::gatherv, Operation::scatterv, Operation::allgatherv, Operation::alltoallv})
    EXPECT_EQ(bytes(varying), 0U);
}

TEST(Protocol, LinesAreFew) {
  constexpr std::size_t all_floats = cell_lines * line_floats;
  EXPECT_TRUE(can_do(Protocol::line, signature_of(Operation::allreduce, line_floats), 2, true));
  EXPECT_TRUE(can_do(Protocol::line, signature_of(Operation::bcast, all_floats / 2), 2, true));
  EXPECT_FALSE(can_do(Protocol::line, signature_of(Operation::bcast, all_floats / 2 + 1), 2, true));
  // A taker's block begins a line.
  EXPECT_TRUE(can_do(Protocol::line, signature_of(Operation::alltoall, 1), static_cast<int>(cell_lines), true));
  EXPECT_FALSE(can_do(Protocol::line, signature_of(Operation::alltoall, 1), static_cast<int>(cell_lines) + 1, true));
  EXPECT_TRUE(can_do(Protocol::line, signature_of(Operation::barrier, 0), 2, false));
}

TEST(Protocol, WhatMustGoOnAloneIsPublishedAtOnce) {
  for (const CallKind kind : {CallKind::nonblocking, CallKind::persistent}) {
    const auto may = [kind](std::size_t count) {
      return can_do(Protocol::slots, signature_of(Operation::bcast, count, DatatypeKind::float32, kind), 2, true);
    };
    EXPECT_TRUE(may(slot_floats));
    EXPECT_FALSE(may(slot_floats + 1));
    EXPECT_FALSE(
        can_do(Protocol::automatic, signature_of(Operation::alltoallv, 0, DatatypeKind::float32, kind), 2, false));
  }
  EXPECT_TRUE(can_do(Protocol::slots, signature_of(Operation::bcast, 100 * slot_floats), 2, true));
  EXPECT_TRUE(can_do(Protocol::automatic, signature_of(Operation::alltoallv, 0), 2, false));
}

TEST(Protocol, ARankThatGoesOnInsideTheHostMayBeWaitedFor) {
  for (const CallKind kind : {CallKind::nonblocking, CallKind::persistent}) {
    const auto may = [kind](Protocol protocol, Operation operation, std::size_t count) {
      return can_do(protocol, signature_of(operation, count, DatatypeKind::float32, kind), 2, false, true);
    };
    EXPECT_TRUE(may(Protocol::slots, Operation::bcast, 100 * slot_floats));
    EXPECT_TRUE(may(Protocol::automatic, Operation::alltoallv, 0));
    EXPECT_TRUE(may(Protocol::tree, Operation::allreduce, 1));
    EXPECT_FALSE(may(Protocol::single_copy, Operation::bcast, 1)) << "nobody reaches the buffers";
    for (const Protocol protocol : {Protocol::parts, Protocol::stream})
      EXPECT_FALSE(may(protocol, Operation::allreduce, slot_floats)) << "these buffers are for calls in turn";
  }
}

// The share of one of 256 ranks is two lines, and a flag counts 2^23 chunks.
TEST(Protocol, SlotsCarryNoMoreChunksThanAFlagCounts) {
  constexpr std::size_t gibibyte_of_floats = std::size_t{1} << 28U;
  EXPECT_TRUE(can_do(Protocol::slots, signature_of(Operation::alltoall, gibibyte_of_floats), 2, false));
  EXPECT_FALSE(can_do(Protocol::slots, signature_of(Operation::alltoall, gibibyte_of_floats), 256, false));
  EXPECT_TRUE(can_do(Protocol::slots, signature_of(Operation::alltoall, gibibyte_of_floats / 4), 256, false));
}

TEST(Protocol, SingleCopyNeedsTheKernelsLeave) {
  const Signature signature = signature_of(Operation::allreduce, 1 << 20);
  EXPECT_TRUE(can_do(Protocol::single_copy, signature, 2, true));
  EXPECT_FALSE(can_do(Protocol::single_copy, signature, 2, false));
  EXPECT_FALSE(can_do(Protocol::single_copy, signature_of(Operation::barrier, 0), 2, true));
}

TEST(Protocol, OnlyVFormsChooseByThemselves) {
  for (const Operation operation : all_operations) {
    const Signature signature = signature_of(operation, 1);
    const bool varying = tutti::is_varying(operation);
    EXPECT_EQ(can_do(Protocol::automatic, signature, 2, true), varying);
    EXPECT_EQ(can_do(Protocol::slots, signature, 2, true), !varying);
    EXPECT_EQ(can_do(Protocol::line, signature, 2, true), !varying);
  }
}

// An element that is combined is never split: a chunk must hold one. In chunks a taker has half of its share of a
// slot, in whole lines.
TEST(Protocol, AnElementThatNoChunkHoldsIsRefused) {
  for (int size = 2; size <= 64; ++size) {
    const std::size_t share = slot_bytes / static_cast<std::size_t>(size) / cache_line * cache_line;
    const std::size_t chunk = share / 2 / cache_line * cache_line;
    const auto may = [size](Operation operation, std::size_t unit) {
      return can_do(Protocol::slots, signature_of(operation, 100, Datatype::bytes(unit)), size, true);
    };
    EXPECT_TRUE(may(Operation::reduce_scatter_block, chunk)) << size;
    EXPECT_FALSE(may(Operation::reduce_scatter_block, chunk + 1)) << size;
    EXPECT_TRUE(may(Operation::alltoall, chunk + 1)) << "what is only moved can be split";
    EXPECT_TRUE(may(Operation::allreduce, slot_bytes / 2));
    EXPECT_FALSE(may(Operation::allreduce, slot_bytes / 2 + 1));
  }
}

TEST(Protocol, PartsAreOfVectorsThatAreCombinedWhole) {
  const auto may = [](const Signature& signature, int size) { return can_do(Protocol::parts, signature, size, false); };
  for (const Operation operation : all_operations)
    EXPECT_EQ(may(signature_of(operation, 1), 2), operation == Operation::reduce || operation == Operation::allreduce);
  for (const CallKind kind : {CallKind::nonblocking, CallKind::persistent})
    EXPECT_FALSE(may(signature_of(Operation::allreduce, 1, DatatypeKind::float32, kind), 2)) << "a rank may be away";
  EXPECT_FALSE(may(a_piece(signature_of(Operation::allreduce, 1)), 2)) << "others run at the same time";
  for (int size = 2; size <= 64; ++size) {
    const std::size_t room = stream_bytes / (2 * static_cast<std::size_t>(size)) / cache_line * cache_line;
    EXPECT_TRUE(may(signature_of(Operation::allreduce, 100, Datatype::bytes(room)), size)) << size;
    EXPECT_FALSE(may(signature_of(Operation::allreduce, 100, Datatype::bytes(room + 1)), size)) << "never split";
  }
}

TEST(Protocol, StreamsAreOfBlockingCallsWithData) {
  const auto may = [](const Signature& s, int size) {
    const bool streams = can_do(Protocol::stream, s, size, false);
    EXPECT_EQ(can_do(Protocol::wide, s, size, false), streams);
    EXPECT_EQ(can_do(Protocol::uncached, s, size, false), streams);
    return streams;
  };
  for (const Operation operation : all_operations) {
    const bool may_stream = operation != Operation::barrier && !tutti::is_varying(operation);
    EXPECT_EQ(may(signature_of(operation, 1), 2), may_stream) << static_cast<int>(operation);
    for (const CallKind kind : {CallKind::nonblocking, CallKind::persistent})
      EXPECT_FALSE(may(signature_of(operation, 1, DatatypeKind::float32, kind), 2)) << "a rank may be away";
    EXPECT_FALSE(may(a_piece(signature_of(operation, 1)), 2)) << "others run at the same time, through the same ring";
  }
  const auto of_bytes = [&](Operation operation, std::size_t unit) {
    return may(signature_of(operation, 10, Datatype::bytes(unit)), 2);
  };
  EXPECT_TRUE(of_bytes(Operation::allreduce, stream_bytes / 2));
  EXPECT_FALSE(of_bytes(Operation::allreduce, stream_bytes / 2 + 1)) << "never split";
  EXPECT_FALSE(of_bytes(Operation::reduce, stream_bytes / 4 + 1)) << "never split";
  EXPECT_TRUE(of_bytes(Operation::bcast, stream_bytes / 4 + 1)) << "what is only moved can be split";
}

TEST(Protocol, ChunksAreWholeLinesOrElementsOfWhichARingHoldsSome) {
  for (const int size : {2, 3, 8, 31, most_ranks})
    for (const Operation operation : {Operation::bcast, Operation::scatter, Operation::alltoall, Operation::scan}) {
      const std::size_t most = most_of_ring(RingKind::near, operation, size);
      EXPECT_LE(most * blocks_in_ring(operation, size), stream_bytes) << "two calls fit";
      const std::size_t fewest = operation == Operation::alltoall ? 2 : 4;
      for (std::size_t block = 0; block < std::size_t{1} << 28U; block = 3 * block + 1)
        for (const std::size_t grain : {std::size_t{1}, std::size_t{3}, std::size_t{24}, most / 4}) {
          const std::size_t chunk = chunk_of(operation, block, most, grain);
          EXPECT_GT(chunk, 0U);
          EXPECT_EQ(chunk % (grain == 1 ? cache_line : grain), 0U);
          EXPECT_LE(operation == Operation::alltoall && block <= most ? chunk : fewest * chunk,
                    std::max(most, fewest * std::max(cache_line, grain)));
          for (const RingKind kind : {RingKind::near, RingKind::wide}) {
            const RingCut cut = cut_for(kind, operation, block, size, grain);
            EXPECT_EQ(cut.chunk, chunk) << "whichever ring a giver has, takers know its chunks";
            EXPECT_GE(cut.chunks * chunk, block);
            EXPECT_LE(cut.places * chunk, cut.share);
            EXPECT_GE(cut.places, 1U);
            EXPECT_LE(cut.share * blocks_in_ring(operation, size), ring_bytes(kind) / (kind == RingKind::wide ? 1 : 2));
          }
        }
    }
  const auto chunk = [](Operation operation, std::size_t block) { return chunk_of(operation, block, stream_bytes); };
  EXPECT_LT(chunk(Operation::bcast, 1 << 17), chunk(Operation::bcast, 1 << 20)) << "short blocks begin earlier";
  EXPECT_EQ(chunk(Operation::bcast, 1000), 1024U) << "a flag more would take longer than half the block";
  EXPECT_EQ(chunk(Operation::alltoall, 1 << 17), std::size_t{1} << 17U) << "nobody waits for a first chunk";
  EXPECT_GT(chunk(Operation::alltoall, (1 << 17) + 1), std::size_t{1} << 15U) << "no chunk of a few bytes";
}

/// Costs as those of a machine whose copies through shared buffers are fast.
TEST(Protocol, LongBlocksAreStreamedWhereCopiesOfTheKernelAreSlow) {
  detail::Machine machine;
  machine.size = 2;
  machine.costs.slot_write = machine.costs.slot_read = 20e-12;
  machine.costs.stream_write = machine.costs.stream_read = 18e-12;
  machine.costs.wide_write = machine.costs.wide_read = 18e-12;
  machine.costs.copy = 7e-12;
  machine.costs.far_copy = 29e-12;
  machine.costs.combine = 12e-12;
  machine.costs.kernel_busy_byte = machine.costs.kernel_byte = 60e-12;
  machine.costs.kernel_busy_far_byte = 86e-12;
  const auto seconds = [&](Protocol protocol, Operation operation) {
    return predict(protocol, signature_of(operation, 1 << 18), machine);
  };
  for (const Operation operation : {Operation::gather, Operation::scatter})
    EXPECT_LT(seconds(Protocol::stream, operation), seconds(Protocol::slots, operation)) << "fewer flags";
  constexpr std::array shared = {Operation::bcast, Operation::allgather, Operation::alltoall, Operation::reduce,
                                 Operation::allreduce};
  for (const Operation operation : shared) {
    EXPECT_LT(seconds(Protocol::stream, operation), seconds(Protocol::slots, operation)) << "fewer flags";
    EXPECT_LT(seconds(Protocol::stream, operation), seconds(Protocol::single_copy, operation));
  }
  machine.costs.kernel_busy_call = machine.costs.kernel_call = 1e-9;
  machine.costs.kernel_busy_far_byte = machine.costs.kernel_busy_byte = machine.costs.kernel_byte = 1e-12;
  machine.costs.kernel_cold_byte = 1e-12;
  for (const Operation operation : shared)
    EXPECT_GT(seconds(Protocol::stream, operation), seconds(Protocol::single_copy, operation));
}

TEST(Protocol, BuffersAreUsedAsTheyAreFastest) {
  detail::Machine machine;
  machine.size = 2;
  const auto fastest = [&](std::size_t count) {
    const Signature s = signature_of(Operation::alltoall, count);
    return std::min({Protocol::stream, Protocol::wide, Protocol::uncached},
                    [&](Protocol a, Protocol b) { return predict(a, s, machine) < predict(b, s, machine); });
  };
  detail::Costs& costs = machine.costs;
  costs.stream_write = costs.wide_write = costs.uncached_write = 50e-12;
  costs.stream_read = costs.wide_read = costs.uncached_read = 20e-12;
  costs.uncached_start = 300e-9;
  costs.wide_write = 20e-12;
  EXPECT_EQ(fastest(1 << 14), Protocol::wide) << "another core's caches hold the lines of short buffers";
  costs.stream_write = 10e-12;
  EXPECT_EQ(fastest(1 << 14), Protocol::stream);
  costs.stream_write = costs.wide_write = 480e-12;
  EXPECT_EQ(fastest(1 << 14), Protocol::uncached) << "lines that pass between far cores";
  EXPECT_NE(fastest(1 << 4), Protocol::uncached) << "the first line takes long";
}

// What a rank gives itself takes as long by every protocol; a broadcast has no such block.
TEST(Protocol, TheRootOfAGatherCopiesItsOwnBlockToo) {
  detail::Machine machine;
  machine.size = 2;
  for (const Protocol p : {Protocol::slots, Protocol::stream, Protocol::single_copy})
    EXPECT_GT(predict(p, signature_of(Operation::gather, 1 << 20), machine),
              predict(p, signature_of(Operation::bcast, 1 << 20), machine));
}

TEST(Protocol, SingleCopiesOfWhatTheCachesHaveLostTakeLonger) {
  detail::Machine machine;
  machine.size = 2;
  machine.costs.kernel_busy_far_byte = 70e-12;
  machine.costs.kernel_cold_byte = 200e-12;
  const auto seconds = [&](std::size_t bytes, double cache_bytes) {
    machine.costs.cache_part = machine.size / cache_bytes;
    return predict(Protocol::single_copy, signature_of(Operation::allgather, bytes / 4), machine);
  };
  constexpr double mega = 1024.0 * 1024;
  const auto added = [&](std::size_t bytes) { return seconds(bytes, 32 * mega) - seconds(bytes, 1e6 * mega); };
  // Two ranks, each with a block of its own and room for two.
  EXPECT_NEAR(added(1 << 20), mega * 130e-12 * 6 / 32, 1e-6);
  EXPECT_NEAR(added(1 << 24), 16 * mega * 130e-12, 1e-6) << "nothing is left in the caches";
  EXPECT_EQ(added(1 << 16), 0) << "a core's own caches have it";
}

TEST(Protocol, LongSumsGoByPartsWhereCopiesOfTheKernelAreSlow) {
  detail::Machine machine;
  machine.size = 8;
  machine.costs.kernel_busy_call = machine.costs.kernel_call = 20e-6;
  const auto seconds = [&](Protocol protocol, Operation operation) {
    return predict(protocol, signature_of(operation, 1 << 16), machine);
  };
  EXPECT_LT(seconds(Protocol::parts, Operation::allreduce), seconds(Protocol::slots, Operation::allreduce));
  EXPECT_LT(seconds(Protocol::parts, Operation::allreduce), seconds(Protocol::stream, Operation::allreduce))
      << "among many ranks each byte is combined once";
  EXPECT_LT(seconds(Protocol::parts, Operation::allreduce), seconds(Protocol::single_copy, Operation::allreduce));
  machine.costs.kernel_busy_call = machine.costs.kernel_call = 1e-9;
  machine.costs.kernel_busy_byte = machine.costs.kernel_byte = machine.costs.kernel_cold_byte = 1e-12;
  EXPECT_GT(seconds(Protocol::parts, Operation::allreduce), seconds(Protocol::single_copy, Operation::allreduce));
}

TEST(Protocol, TreesCarryShortBlockingCallsWhoseOrderIsFree) {
  const auto may = [](const Signature& signature) { return can_do(Protocol::tree, signature, 64, true); };
  for (const Operation operation : all_operations) {
    const bool passes = operation == Operation::barrier || operation == Operation::bcast ||
                        operation == Operation::reduce || operation == Operation::allreduce;
    EXPECT_EQ(may(signature_of(operation, 1)), passes) << static_cast<int>(operation);
    for (const CallKind kind : {CallKind::nonblocking, CallKind::persistent})
      EXPECT_FALSE(may(signature_of(operation, 1, DatatypeKind::float32, kind))) << "a leader may be away";
  }
  EXPECT_TRUE(may(signature_of(Operation::bcast, cell_lines / 2 * line_floats)));
  EXPECT_FALSE(may(signature_of(Operation::bcast, cell_lines / 2 * line_floats + 1)));
  EXPECT_TRUE(may(signature_of(Operation::allreduce, most_combined_block / sizeof(float))));
  EXPECT_FALSE(may(signature_of(Operation::allreduce, most_combined_block / sizeof(float) + 1)));

  Signature ordered = signature_of(Operation::allreduce, 1);
  ordered.reproducible = true;
  EXPECT_FALSE(may(ordered)) << "one step in rank order";
  ordered.operation = Operation::bcast;
  EXPECT_TRUE(may(ordered)) << "nothing is combined";
  Signature user = signature_of(Operation::reduce, 1);
  user.op = ReduceKind::user;
  EXPECT_TRUE(may(user));
  user.commutative = false;
  EXPECT_FALSE(may(user));
  Signature narrow = signature_of(Operation::allreduce, 1, DatatypeKind::bfloat16);
  EXPECT_FALSE(may(narrow)) << "one rounding";
  narrow.accumulation = Accumulation::backend;
  EXPECT_TRUE(may(narrow));
  narrow.accumulation = Accumulation::full;
  narrow.op = ReduceKind::max;
  EXPECT_TRUE(may(narrow)) << "nothing is rounded";
}

// In both, each rank takes one block from every other.
TEST(Protocol, BlocksOfAnAlltoallAreAsLargeAsThoseOfAnAllgather) {
  detail::Machine machine;
  machine.size = 8;
  for (const Protocol p : {Protocol::slots, Protocol::single_copy}) {
    const double all_to_all = predict(p, signature_of(Operation::alltoall, 1 << 18), machine);
    EXPECT_LT(all_to_all, 3 * predict(p, signature_of(Operation::allgather, 1 << 18), machine));
  }
}

TEST(Protocol, PredictionsArePositiveAndGrow) {
  detail::Machine machine;
  machine.size = 4;
  for (const Operation operation : all_operations)
    for (const Protocol p : {Protocol::slots, Protocol::single_copy}) {
      if (tutti::is_varying(operation) || operation == Operation::barrier) continue;
      const double few = predict(p, signature_of(operation, 1), machine);
      const double many = predict(p, signature_of(operation, 1 << 22), machine);
      EXPECT_GT(few, 0);
      EXPECT_GT(many, few);
    }
}

}  // namespace
}  // namespace tutti::test
