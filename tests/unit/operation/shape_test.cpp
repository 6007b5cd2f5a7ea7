// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "unit/shm/example.hpp"

namespace tutti::test {
namespace {

using detail::Shape;

constexpr std::size_t count = 6;

/// One rank's view, with what it refers to.
struct View {
  View(Operation operation, int root, int at, int ranks)
      : signature(signature_of(operation, count, DatatypeKind::float32, CallKind::blocking, root)),
        binding(binding_of(operation, at, ranks, root)),
        rank(at),
        size(ranks) {}
  [[nodiscard]] Shape shape() const { return {signature, binding, rank, size}; }
  Signature signature;
  Binding binding;
  int rank;
  int size;
};

template <typename Body>
void for_each_pair(const Body& body) {
  for (const Operation operation : all_operations)
    for (const int size : {2, 3, 5})
      for (const int root : {0, size - 1})
        for (int from = 0; from < size; ++from)
          for (int to = 0; to < size; ++to) body(operation, root, size, from, to);
}

TEST(Shape, BothSidesOfAFlowAgree) {
  for_each_pair([](Operation operation, int root, int size, int from, int to) {
    const View giver(operation, root, from, size);
    const View taker(operation, root, to, size);
    EXPECT_EQ(giver.shape().flows(from, to), taker.shape().flows(from, to));
    if (!giver.shape().flows(from, to) || giver.shape().combines()) return;
    EXPECT_EQ(giver.shape().given(to).count, taker.shape().taken(from).count)
        << static_cast<int>(operation) << ": " << from << " to " << to << " of " << size;
  });
}

TEST(Shape, NobodyGivesToItself) {
  for_each_pair([](Operation operation, int root, int size, int from, int to) {
    if (from != to) return;
    EXPECT_FALSE(View(operation, root, from, size).shape().flows(from, to));
  });
}

TEST(Shape, FlowsAreThoseOfTheOperation) {
  constexpr int size = 4;
  const auto flows = [](Operation operation, int root) {
    int all = 0;
    for (int from = 0; from < size; ++from)
      for (int to = 0; to < size; ++to) all += View(operation, root, from, size).shape().flows(from, to) ? 1 : 0;
    return all;
  };
  for (const Operation one_sided : {Operation::bcast, Operation::scatter, Operation::scatterv, Operation::reduce,
                                    Operation::gather, Operation::gatherv})
    EXPECT_EQ(flows(one_sided, 2), size - 1);
  for (const Operation lower : {Operation::scan, Operation::exscan}) EXPECT_EQ(flows(lower, 0), size * (size - 1) / 2);
  for (const Operation all :
       {Operation::barrier, Operation::allreduce, Operation::reduce_scatter, Operation::reduce_scatter_block,
        Operation::allgather, Operation::allgatherv, Operation::alltoall, Operation::alltoallv})
    EXPECT_EQ(flows(all, 0), size * (size - 1));
}

TEST(Shape, PartsOfASplitResultCoverTheSource) {
  constexpr int size = 5;
  for (const Operation operation : {Operation::reduce_scatter, Operation::reduce_scatter_block}) {
    const View view(operation, 0, 0, size);
    std::size_t next = 0;
    for (int to = 0; to < size; ++to) {
      EXPECT_EQ(view.shape().part(to).offset, next);
      next += view.shape().part(to).count;
    }
  }
}

TEST(Shape, PrefixesCombineTheLowerRanks) {
  constexpr int size = 4;
  for (int rank = 0; rank < size; ++rank) {
    EXPECT_EQ(View(Operation::scan, 0, rank, size).shape().contributions(rank), rank + 1);
    EXPECT_EQ(View(Operation::exscan, 0, rank, size).shape().contributions(rank), rank);
    EXPECT_EQ(View(Operation::exscan, 0, rank, size).shape().has_result(rank), rank > 0);
    EXPECT_EQ(View(Operation::reduce, 2, rank, size).shape().has_result(rank), rank == 2);
    EXPECT_EQ(View(Operation::allreduce, 0, rank, size).shape().contributions(rank), size);
  }
}

TEST(Shape, TwoRanksHaveNothingToCombineInAnExclusiveScan) {
  for (int size = 2; size <= 4; ++size) {
    EXPECT_EQ(View(Operation::exscan, 0, 1, size).shape().combines(), size > 2);
    EXPECT_TRUE(View(Operation::scan, 0, 1, size).shape().combines());
    EXPECT_FALSE(View(Operation::bcast, 0, 1, size).shape().combines());
  }
}

TEST(Shape, LargestGivenIsOverAllTakers) {
  constexpr int size = 4;
  const View view(Operation::alltoallv, 0, 1, size);
  std::size_t largest = 0;
  for (const int to : {0, 2, 3}) largest = std::max(largest, uneven_count(1, to));
  EXPECT_EQ(view.shape().largest_given(), largest);
  EXPECT_EQ(View(Operation::bcast, 0, 1, size).shape().largest_given(), 0U);
  EXPECT_EQ(View(Operation::bcast, 1, 1, size).shape().largest_given(), count);
}

}  // namespace
}  // namespace tutti::test
