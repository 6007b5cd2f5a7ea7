// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <array>
#include <tutti/buffer.hpp>
#include <vector>

namespace tutti {
namespace {

TEST(Buffer, IsMadeFromRangesAndPointers) {
  std::vector<float> vector(5);
  std::array<std::int16_t, 3> array{};
  const std::vector<double> constant(4);
  const Buffer a = vector;
  EXPECT_EQ(a.data, vector.data());
  EXPECT_EQ(a.count, 5U);
  EXPECT_EQ(a.type, Datatype(DatatypeKind::float32));
  const Buffer b = std::span(array);
  EXPECT_EQ(b.type, Datatype(DatatypeKind::int16));
  const ConstBuffer c = constant;
  EXPECT_EQ(c.count, 4U);
  const ConstBuffer d(vector.data() + 1, 2);
  EXPECT_EQ(d.data, vector.data() + 1);
  const ConstBuffer e = a;
  EXPECT_EQ(e.count, 5U);
  EXPECT_FALSE(e.is_in_place);
}

TEST(Buffer, InPlaceIsKept) {
  const ConstBuffer a = in_place;
  EXPECT_TRUE(a.is_in_place);
  const Buffer b = in_place;
  const ConstBuffer c = b;
  EXPECT_TRUE(c.is_in_place);
}

TEST(MemoryKind, OrdinaryMemoryIsHostMemory) {
  int x = 0;
  EXPECT_EQ(memory_kind(&x), MemoryKind::host);
  EXPECT_EQ(memory_kind(nullptr), MemoryKind::host);
  EXPECT_STREQ(memory_kind_name(MemoryKind::managed), "managed");
}

}  // namespace
}  // namespace tutti
