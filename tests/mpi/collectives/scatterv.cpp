// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/scatterv.hpp>

#include "mpi/collectives/movement.hpp"

namespace tutti::test {
namespace {

template <typename T>
class Scatterv : public ::testing::Test {};
TYPED_TEST_SUITE(Scatterv, MovementTypes);

TYPED_TEST(Scatterv, MovesEveryElementInAllForms) {
  using T = TypeParam;
  for_each_case<T>(Operation::scatterv, [](const Case& c) {
    if (!std::is_same_v<T, float> && c.count > 100) return;
    for (const int root : {0, c.size - 1})
      for (const bool in_place_call : c.forms) {
        const bool is_root = c.rank == root;
        const bool in_place_here = in_place_call && is_root;
        const Uneven u = uneven(uneven_counts(c.count, c.size, 1));
        const auto rank = static_cast<std::size_t>(c.rank);
        std::vector<T> send(is_root ? u.extent : 0);
        std::vector<T> recv(u.counts[rank]);
        const auto target = [&]() -> Buffer { return in_place_here ? Buffer(in_place) : Buffer(recv); };
        exercise(
            c.mode, [&] { scatterv(c.comm, send, u.counts, u.displs, target(), root, c.options); },
            [&] { return iscatterv(c.comm, send, u.counts, u.displs, target(), root, c.options); },
            [&] { return scatterv_init(c.comm, send, u.counts, u.displs, target(), root, c.options); },
            [&](int i) {
              for (std::size_t r = 0; is_root && r < u.counts.size(); ++r)
                place(send, u.displs[r], block_of<T>(root, r, u.counts[r], i));
              place(recv, 0, zeros<T>(recv.size()));
            },
            [&](int i) {
              if (!in_place_here) expect_equal(recv, block_of<T>(root, rank, u.counts[rank], i), c, i);
            });
      }
  });
}

}  // namespace
}  // namespace tutti::test
