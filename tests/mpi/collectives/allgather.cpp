// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/allgather.hpp>

#include "mpi/collectives/movement.hpp"

namespace tutti::test {
namespace {

template <typename T>
class Allgather : public ::testing::Test {};
TYPED_TEST_SUITE(Allgather, MovementTypes);

TYPED_TEST(Allgather, MovesEveryElementInAllForms) {
  using T = TypeParam;
  for_each_case<T>(Operation::allgather, [](const Case& c) {
    if (!std::is_same_v<T, float> && c.count > 100) return;
    const auto ranks = static_cast<std::size_t>(c.size);
    for (const bool in_place_call : c.forms) {
      std::vector<T> send(c.count);
      std::vector<T> recv(c.count * ranks);
      const auto source = [&]() -> ConstBuffer { return in_place_call ? ConstBuffer(in_place) : ConstBuffer(send); };
      exercise(
          c.mode, [&] { allgather(c.comm, source(), recv, c.options); },
          [&] { return iallgather(c.comm, source(), recv, c.options); },
          [&] { return allgather_init(c.comm, source(), recv, c.options); },
          [&](int i) {
            const auto mine = block_of<T>(c.rank, 0, c.count, i);
            place(recv, 0, zeros<T>(recv.size()));
            place(send, 0, mine);
            if (in_place_call) place(recv, static_cast<std::size_t>(c.rank) * c.count, mine);
          },
          [&](int i) {
            std::vector<T> expected(recv.size());
            for (int r = 0; r < c.size; ++r)
              place(expected, static_cast<std::size_t>(r) * c.count, block_of<T>(r, 0, c.count, i));
            expect_equal(recv, expected, c, i);
          });
    }
  });
}

}  // namespace
}  // namespace tutti::test
