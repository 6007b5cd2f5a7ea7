// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/scatter.hpp>

#include "mpi/collectives/movement.hpp"

namespace tutti::test {
namespace {

template <typename T>
class Scatter : public ::testing::Test {};
TYPED_TEST_SUITE(Scatter, MovementTypes);

TYPED_TEST(Scatter, MovesEveryElementInAllForms) {
  using T = TypeParam;
  for_each_case<T>(Operation::scatter, [](const Case& c) {
    if (!std::is_same_v<T, float> && c.count > 100) return;
    const auto ranks = static_cast<std::size_t>(c.size);
    for (const int root : {0, c.size - 1})
      for (const bool in_place_call : c.forms) {
        const bool is_root = c.rank == root;
        const bool in_place_here = in_place_call && is_root;
        std::vector<T> send(is_root ? c.count * ranks : 0);
        std::vector<T> recv(c.count);
        const auto target = [&]() -> Buffer { return in_place_here ? Buffer(in_place) : Buffer(recv); };
        exercise(
            c.mode, [&] { scatter(c.comm, send, target(), root, c.options); },
            [&] { return iscatter(c.comm, send, target(), root, c.options); },
            [&] { return scatter_init(c.comm, send, target(), root, c.options); },
            [&](int i) {
              for (std::size_t r = 0; is_root && r < ranks; ++r)
                place(send, r * c.count, block_of<T>(root, r, c.count, i));
              place(recv, 0, zeros<T>(c.count));
            },
            [&](int i) {
              const auto mine = block_of<T>(root, static_cast<std::size_t>(c.rank), c.count, i);
              if (!in_place_here) expect_equal(recv, mine, c, i);
              if (!is_root) return;
              std::vector<T> untouched(send.size());
              for (std::size_t r = 0; r < ranks; ++r) place(untouched, r * c.count, block_of<T>(root, r, c.count, i));
              expect_equal(send, untouched, c, i);
            });
      }
  });
}

}  // namespace
}  // namespace tutti::test
