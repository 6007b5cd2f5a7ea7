// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/bcast.hpp>

#include "mpi/collectives/movement.hpp"

namespace tutti::test {
namespace {

template <typename T>
class Bcast : public ::testing::Test {};
TYPED_TEST_SUITE(Bcast, MovementTypes);

TYPED_TEST(Bcast, MovesEveryElementInAllForms) {
  using T = TypeParam;
  for_each_case<T>(Operation::bcast, [](const Case& c) {
    if (!std::is_same_v<T, float> && c.count > 100) return;
    for (const int root : {0, c.size - 1, c.size / 2}) {
      std::vector<T> data(c.count);
      exercise(
          c.mode, [&] { bcast(c.comm, data, root, c.options); }, [&] { return ibcast(c.comm, data, root, c.options); },
          [&] { return bcast_init(c.comm, data, root, c.options); },
          [&](int i) { place(data, 0, c.rank == root ? block_of<T>(root, 0, c.count, i) : zeros<T>(c.count)); },
          [&](int i) { expect_equal(data, block_of<T>(root, 0, c.count, i), c, i); });
    }
  });
}

}  // namespace
}  // namespace tutti::test
