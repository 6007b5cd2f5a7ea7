// SPDX-License-Identifier: BSD-3-Clause
#include "operation/operation.hpp"

#include <gtest/gtest.h>

#include <string>

#include "diagnosis/calls.hpp"

namespace tutti::test {
namespace {

using enum Operation;

/// The names of the operations of a property.
template <typename Has>
std::string names_of(const Has& has) {
  std::string names;
  for (const Operation operation : all_operations)
    if (has(operation)) names += (names.empty() ? "" : " ") + std::string(operation_name(operation));
  return names;
}

// The properties follow from the rows; here they stand as the MPI standard describes the functions.
TEST(Operation, PropertiesFollowFromRows) {
  EXPECT_EQ(names_of([](Operation o) { return combines(o); }),
            "reduce allreduce reduce_scatter_block reduce_scatter scan exscan");
  EXPECT_EQ(names_of([](Operation o) { return has_root(o); }), "bcast reduce gather gatherv scatter scatterv");
  EXPECT_EQ(names_of([](Operation o) { return is_split(o); }),
            "reduce_scatter_block reduce_scatter scatter scatterv alltoall alltoallv");
  EXPECT_EQ(names_of([](Operation o) { return has_equal_blocks(o); }),
            "reduce_scatter_block gather scatter allgather alltoall");
  EXPECT_EQ(names_of([](Operation o) { return is_varying(o); }), "gatherv scatterv allgatherv alltoallv");
  EXPECT_EQ(names_of([](Operation o) { return has_counts(o); }),
            "reduce_scatter gatherv scatterv allgatherv alltoallv");
  EXPECT_EQ(names_of([](Operation o) { return has_shared_counts(o); }), "reduce_scatter allgatherv");
  EXPECT_EQ(names_of([](Operation o) { return has_hidden_size(o); }), "gatherv scatterv alltoallv");
  EXPECT_EQ(names_of([](Operation o) { return is_prefix(o); }), "scan exscan");
}

TEST(Operation, BuffersFollowFromRows) {
  EXPECT_EQ(names_of([](Operation o) { return has_input(o, false); }),
            "reduce allreduce reduce_scatter_block reduce_scatter scan exscan gather gatherv allgather allgatherv "
            "alltoall alltoallv");
  EXPECT_EQ(names_of([](Operation o) { return has_input(o, true) && !has_input(o, false); }), "scatter scatterv");
  EXPECT_EQ(names_of([](Operation o) { return !has_output(o, false); }), "barrier reduce gather gatherv");
  EXPECT_EQ(names_of([](Operation o) { return !has_output(o, true); }), "barrier");
  EXPECT_EQ(names_of([](Operation o) { return has_own_block(o, false); }),
            "allreduce reduce_scatter_block reduce_scatter scan allgather allgatherv alltoall alltoallv");
  EXPECT_EQ(names_of([](Operation o) { return !has_own_block(o, true); }), "barrier bcast exscan");
}

TEST(Operation, EqualBlocksOfAVForm) {
  EXPECT_EQ(with_equal_blocks(gatherv), gather);
  EXPECT_EQ(with_equal_blocks(scatterv), scatter);
  EXPECT_EQ(with_equal_blocks(allgatherv), allgather);
  EXPECT_EQ(with_equal_blocks(alltoallv), alltoall);
  EXPECT_EQ(with_equal_blocks(reduce_scatter), reduce_scatter_block);
}

TEST(Operation, TwoRanksCombineNothingInAnExclusiveScan) {
  EXPECT_FALSE(combines(exscan, 2));
  EXPECT_TRUE(combines(exscan, 3));
  EXPECT_TRUE(combines(scan, 2));
}

TEST(Calls, BeginWithTheOperations) {
  for (const Operation operation : all_operations) {
    EXPECT_TRUE(is_operation(detail::flight::call_of(operation)));
    EXPECT_EQ(call_name(detail::flight::call_of(operation)), operation_name(operation));
  }
  EXPECT_FALSE(is_operation(detail::flight::Call::neighbor_allgather));
  EXPECT_EQ(call_name(detail::flight::Call::neighbor_alltoallw), "neighbor_alltoallw");
  EXPECT_EQ(call_name(detail::flight::Call::prepare_device), "prepare_device");
}

}  // namespace
}  // namespace tutti::test
