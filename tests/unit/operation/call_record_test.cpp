// SPDX-License-Identifier: BSD-3-Clause
#include "operation/call_record.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <span>
#include <vector>

#include "operation/binding.hpp"

namespace tutti::detail {
namespace {

Signature sums(std::size_t count) {
  Signature signature;
  signature.operation = Operation::allreduce;
  signature.type = DatatypeKind::float32;
  signature.count = count;
  return signature;
}

std::string words_of(const Signature& signature, bool has_stream = false) {
  CallRecord record;
  record.facts = facts_of(signature, {}, has_stream);
  std::strncpy(record.algorithm.data(), signature.algorithm.c_str(), record.algorithm.size() - 1);
  return call_words(record);
}

TEST(CallWords, HaveTheFormTheArgumentsAndTheOptions) {
  Signature signature = sums(100);
  EXPECT_EQ(words_of(signature), "allreduce(float32, count 100, sum)");
  signature.kind = CallKind::nonblocking;
  signature.reproducible = true;
  signature.algorithm = "ring";
  EXPECT_EQ(words_of(signature), "iallreduce(float32, count 100, sum, algorithm ring, reproducible)");
  signature = sums(1);
  signature.kind = CallKind::persistent;
  signature.has_timeout = true;
  EXPECT_EQ(words_of(signature), "allreduce_init(float32, count 1, sum, with a timeout)");
  EXPECT_EQ(words_of(Signature{}), "barrier()");
  signature = sums(3);
  signature.operation = Operation::bcast;
  signature.root = 2;
  signature.type = Datatype::bytes(7);
  EXPECT_EQ(words_of(signature), "bcast(elements of 7 bytes, count 3, root 2)");
}

TEST(CallFacts, AStreamCountsOnDeviceMemoryOnly) {
  Signature signature = sums(4);
  EXPECT_EQ(facts_of(signature, {}, true), facts_of(signature, {}, false));
  signature.memory = MemoryClass::device;
  EXPECT_NE(facts_of(signature, {}, true), facts_of(signature, {}, false));
  EXPECT_EQ(words_of(signature, true), "allreduce(float32, count 4, sum, device memory on a stream)");
}

TEST(CallFacts, EachFieldCounts) {
  const CallFacts facts = facts_of(sums(4), {}, false);
  const auto differs = [&](auto change) {
    Signature signature = sums(4);
    change(signature);
    return facts != facts_of(signature, {}, false);
  };
  EXPECT_FALSE(differs([](Signature&) {}));
  EXPECT_TRUE(differs([](Signature& s) { s.operation = Operation::scan; }));
  EXPECT_TRUE(differs([](Signature& s) { s.kind = CallKind::nonblocking; }));
  EXPECT_TRUE(differs([](Signature& s) { s.memory = MemoryClass::device; }));
  EXPECT_TRUE(differs([](Signature& s) { s.type = DatatypeKind::int32; }));
  EXPECT_TRUE(differs([](Signature& s) { s.op = ReduceKind::max; }));
  EXPECT_TRUE(differs([](Signature& s) { s.commutative = false; }));
  EXPECT_TRUE(differs([](Signature& s) { s.reproducible = true; }));
  EXPECT_TRUE(differs([](Signature& s) { s.has_timeout = true; }));
  EXPECT_TRUE(differs([](Signature& s) { s.accumulation = Accumulation::backend; }));
  EXPECT_TRUE(differs([](Signature& s) { s.accumulation = Accumulation::exact; }));
  EXPECT_TRUE(differs([](Signature& s) { s.root = 1; }));
  EXPECT_TRUE(differs([](Signature& s) { s.count = 5; }));
  EXPECT_TRUE(differs([](Signature& s) { s.algorithm = "ring"; }));
}

/// The sizes of the blocks of one rank of two.
struct Sizes {
  explicit Sizes(const Signature& signature, const Binding& binding) : all(4) {
    write_block_sizes(signature, binding, std::span(all).first(2), std::span(all).last(2));
  }
  [[nodiscard]] BlockSizes get() const { return {std::span(all).first(2), std::span(all).last(2)}; }
  std::vector<std::uint64_t> all;
};

TEST(BlockSizes, BothEndsOfABlockAreCompared) {
  Signature signature;
  signature.operation = Operation::alltoallv;
  signature.type = DatatypeKind::int32;
  constexpr std::array<std::size_t, 4> of_zero = {1, 2, 1, 4};
  std::array<std::size_t, 4> of_one = {4, 1, 2, 1};
  Binding zero;
  zero.send_counts = std::span(of_zero).first(2);
  zero.recv_counts = std::span(of_zero).last(2);
  Binding one;
  one.send_counts = std::span(of_one).first(2);
  one.recv_counts = std::span(of_one).last(2);
  const CallFacts facts = facts_of(signature, zero, false);
  EXPECT_EQ(size_difference(facts, 0, Sizes(signature, zero).get(), 1, Sizes(signature, one).get()), "");
  of_one[2] = 3;
  EXPECT_EQ(size_difference(facts, 0, Sizes(signature, zero).get(), 1, Sizes(signature, one).get()),
            "rank 0 sends rank 1 8 bytes, but that rank expects 12");
}

TEST(BlockSizes, OnlyTheRootOfAGathervKnowsAllSizes) {
  Signature signature;
  signature.operation = Operation::gatherv;
  signature.type = DatatypeKind::float64;
  signature.root = 1;
  Binding leaf;
  leaf.send_count = 3;
  Binding root;
  root.send_count = 2;
  std::array<std::size_t, 2> counts = {3, 2};
  root.recv_counts = counts;
  const CallFacts facts = facts_of(signature, leaf, false);
  EXPECT_EQ(size_difference(facts, 0, Sizes(signature, leaf).get(), 1, Sizes(signature, root).get()), "");
  counts[0] = 4;
  EXPECT_EQ(size_difference(facts, 0, Sizes(signature, leaf).get(), 1, Sizes(signature, root).get()),
            "rank 0 sends rank 1 24 bytes, but that rank expects 32");
}

}  // namespace
}  // namespace tutti::detail
