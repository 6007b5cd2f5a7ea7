// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/gatherv.hpp>

#include "mpi/collectives/movement.hpp"

namespace tutti::test {
namespace {

template <typename T>
class Gatherv : public ::testing::Test {};
TYPED_TEST_SUITE(Gatherv, MovementTypes);

TYPED_TEST(Gatherv, MovesEveryElementInAllForms) {
  using T = TypeParam;
  for_each_case<T>(Operation::gatherv, [](const Case& c) {
    if (!std::is_same_v<T, float> && c.count > 100) return;
    for (const int root : {0, c.size - 1})
      for (const bool in_place_call : c.forms) {
        const bool is_root = c.rank == root;
        const bool in_place_here = in_place_call && is_root;
        const Uneven u = uneven(uneven_counts(c.count, c.size, 0));
        const auto rank = static_cast<std::size_t>(c.rank);
        std::vector<T> send(u.counts[rank]);
        std::vector<T> recv(is_root ? u.extent : 0);
        const auto source = [&]() -> ConstBuffer { return in_place_here ? ConstBuffer(in_place) : ConstBuffer(send); };
        exercise(
            c.mode, [&] { gatherv(c.comm, source(), recv, u.counts, u.displs, root, c.options); },
            [&] { return igatherv(c.comm, source(), recv, u.counts, u.displs, root, c.options); },
            [&] { return gatherv_init(c.comm, source(), recv, u.counts, u.displs, root, c.options); },
            [&](int i) {
              const auto mine = block_of<T>(c.rank, 0, u.counts[rank], i);
              place(recv, 0, zeros<T>(recv.size()));
              if (in_place_here)
                place(recv, u.displs[rank], mine);
              else
                place(send, 0, mine);
            },
            [&](int i) {
              if (!is_root) return;
              auto expected = zeros<T>(recv.size());
              for (std::size_t r = 0; r < u.counts.size(); ++r)
                place(expected, u.displs[r], block_of<T>(static_cast<int>(r), 0, u.counts[r], i));
              expect_equal(recv, expected, c, i);
            });
      }
  });
}

}  // namespace
}  // namespace tutti::test
