// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <tutti/reduce_op.hpp>

namespace tutti {
namespace {

TEST(ReduceOp, IsDefinedWhereItMeansSomething) {
  using enum DatatypeKind;
  EXPECT_TRUE(is_defined(ReduceKind::sum, bfloat16));
  EXPECT_TRUE(is_defined(ReduceKind::prod, complex128));
  EXPECT_FALSE(is_defined(ReduceKind::min, complex64));
  EXPECT_TRUE(is_defined(ReduceKind::band, uint64));
  EXPECT_FALSE(is_defined(ReduceKind::band, float32));
  EXPECT_TRUE(is_defined(ReduceKind::land, logical32));
  EXPECT_FALSE(is_defined(ReduceKind::sum, logical32));
  EXPECT_TRUE(is_defined(ReduceKind::minloc, float64_int32));
  EXPECT_FALSE(is_defined(ReduceKind::minloc, float64));
  EXPECT_FALSE(is_defined(ReduceKind::sum, bytes));
  EXPECT_TRUE(is_defined(ReduceKind::user, bytes));
  EXPECT_TRUE(is_defined(ReduceKind::premul_sum, float16));
}

TEST(ReduceOp, KeepsWhatItWasMadeOf) {
  EXPECT_EQ(ReduceOp::premul_sum(0.25).scalar(), 0.25);
  EXPECT_TRUE(sum.commutative());
  int context = 0;
  const auto function = [](const void*, void*, std::size_t, Datatype, void*) {};
  const ReduceOp op = ReduceOp::user(function, &context, false);
  EXPECT_EQ(op.kind(), ReduceKind::user);
  EXPECT_FALSE(op.commutative());
  EXPECT_EQ(op.context(), &context);
  EXPECT_STREQ(reduce_op_name(ReduceKind::maxloc), "maxloc");
}

}  // namespace
}  // namespace tutti
