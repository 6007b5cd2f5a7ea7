// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/alltoall.hpp>

#include "mpi/collectives/movement.hpp"

namespace tutti::test {
namespace {

template <typename T>
class Alltoall : public ::testing::Test {};
TYPED_TEST_SUITE(Alltoall, MovementTypes);

TYPED_TEST(Alltoall, MovesEveryElementInAllForms) {
  using T = TypeParam;
  for_each_case<T>(Operation::alltoall, [](const Case& c) {
    if (!std::is_same_v<T, float> && c.count > 100) return;
    const auto ranks = static_cast<std::size_t>(c.size);
    for (const bool in_place_call : c.forms) {
      std::vector<T> send(c.count * ranks);
      std::vector<T> recv(c.count * ranks);
      const auto source = [&]() -> ConstBuffer { return in_place_call ? ConstBuffer(in_place) : ConstBuffer(send); };
      exercise(
          c.mode, [&] { alltoall(c.comm, source(), recv, c.options); },
          [&] { return ialltoall(c.comm, source(), recv, c.options); },
          [&] { return alltoall_init(c.comm, source(), recv, c.options); },
          [&](int i) {
            for (std::size_t r = 0; r < ranks; ++r)
              place(in_place_call ? recv : send, r * c.count, block_of<T>(c.rank, r, c.count, i));
          },
          [&](int i) {
            std::vector<T> expected(recv.size());
            for (int r = 0; r < c.size; ++r)
              place(expected, static_cast<std::size_t>(r) * c.count,
                    block_of<T>(r, static_cast<std::size_t>(c.rank), c.count, i));
            expect_equal(recv, expected, c, i);
          });
    }
  });
}

/// Each rank decides for itself whether it exchanges in place.
TEST(AlltoallInPlace, MayDifferBetweenRanks) {
  for_each_case(Operation::alltoall, [](const Case& c) {
    if (c.count > 2000) return;
    const auto ranks = static_cast<std::size_t>(c.size);
    const bool in_place_here = c.rank % 2 == 0;
    std::vector<float> send(c.count * ranks);
    std::vector<float> recv(c.count * ranks);
    const auto source = [&]() -> ConstBuffer { return in_place_here ? ConstBuffer(in_place) : ConstBuffer(send); };
    exercise(
        c.mode, [&] { alltoall(c.comm, source(), recv, c.options); },
        [&] { return ialltoall(c.comm, source(), recv, c.options); },
        [&] { return alltoall_init(c.comm, source(), recv, c.options); },
        [&](int i) {
          for (std::size_t r = 0; r < ranks; ++r)
            place(in_place_here ? recv : send, r * c.count, block_of<float>(c.rank, r, c.count, i));
        },
        [&](int i) {
          std::vector<float> expected(recv.size());
          for (int r = 0; r < c.size; ++r)
            place(expected, static_cast<std::size_t>(r) * c.count,
                  block_of<float>(r, static_cast<std::size_t>(c.rank), c.count, i));
          expect_equal(recv, expected, c, i);
        });
  });
}

}  // namespace
}  // namespace tutti::test
