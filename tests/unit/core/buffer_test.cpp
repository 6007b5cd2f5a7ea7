// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <mpi.h>

#include <array>
#include <limits>
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

enum class Colour : std::uint16_t { red = 1 };
struct Particle {
  double place[3];
  int number;
};

}  // namespace

template <>
struct DatatypeOf<Particle> : BytesOf<Particle> {};

namespace {

TEST(Buffer, ElementsOfEveryKind) {
  EXPECT_EQ(datatype_of<bool>(), Datatype(DatatypeKind::logical8));
  EXPECT_EQ(datatype_of<Colour>(), Datatype(DatatypeKind::uint16));
  EXPECT_EQ(datatype_of<Particle>(), Datatype::bytes(sizeof(Particle)));
  static_assert(!Element<long double> && !Element<std::vector<int>> && Element<Particle> && Element<std::byte>);
  std::vector<std::array<std::array<float, 2>, 3>> nested(5);
  const Buffer a = nested;
  EXPECT_EQ(a.type, Datatype(DatatypeKind::float32));
  EXPECT_EQ(a.count, 30U);
  double plain[4][3] = {};
  const Buffer b = plain;
  EXPECT_EQ(b.type, Datatype(DatatypeKind::float64));
  EXPECT_EQ(b.count, 12U);
  const ConstBuffer c(nested.data(), 2);
  EXPECT_EQ(c.count, 12U);
}

TEST(Buffer, CountsAreIntegersOfAnyType) {
  std::vector<float> x(5);
  const int n = 3;
  EXPECT_EQ((Buffer{x.data(), n}.count), 3U);
  EXPECT_EQ((ConstBuffer{x.data(), n, DatatypeKind::float32}.count), 3U);
  EXPECT_EQ((Buffer{x, n}.count), 3U);
  EXPECT_EQ((ConstBuffer{x, 5L}.count), 5U);
  EXPECT_THROW((void)Buffer(x, 6), Error);
  EXPECT_THROW((void)ConstBuffer(x, -1), Error);
  // Too large for any memory, which every call refuses.
  EXPECT_EQ(Buffer(x.data(), -1).count, std::numeric_limits<std::size_t>::max());
}

TEST(Buffer, AnAddressAloneIsMpiInPlace) {
  const ConstBuffer a = MPI_IN_PLACE;
  EXPECT_TRUE(a.is_in_place);
  const Buffer b = MPI_IN_PLACE;
  EXPECT_TRUE(b.is_in_place);
  int x = 0;
  EXPECT_THROW((void)ConstBuffer(static_cast<void*>(&x)), Error);
}

TEST(MemoryKind, OrdinaryMemoryIsHostMemory) {
  int x = 0;
  EXPECT_EQ(memory_kind(&x), MemoryKind::host);
  EXPECT_EQ(memory_kind(nullptr), MemoryKind::host);
  EXPECT_STREQ(memory_kind_name(MemoryKind::managed), "managed");
}

}  // namespace
}  // namespace tutti
