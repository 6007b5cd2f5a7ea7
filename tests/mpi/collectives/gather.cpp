// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/gather.hpp>

#include "mpi/collectives/movement.hpp"

namespace tutti::test {
namespace {

template <typename T>
class Gather : public ::testing::Test {};
TYPED_TEST_SUITE(Gather, MovementTypes);

TYPED_TEST(Gather, MovesEveryElementInAllForms) {
  using T = TypeParam;
  for_each_case<T>(Operation::gather, [](const Case& c) {
    if (!std::is_same_v<T, float> && c.count > 100) return;
    const auto ranks = static_cast<std::size_t>(c.size);
    for (const int root : {0, c.size - 1})
      for (const bool in_place_call : c.forms) {
        const bool is_root = c.rank == root;
        const bool in_place_here = in_place_call && is_root;
        std::vector<T> send(c.count);
        std::vector<T> recv(is_root ? c.count * ranks : 0);
        const auto source = [&]() -> ConstBuffer { return in_place_here ? ConstBuffer(in_place) : ConstBuffer(send); };
        exercise(
            c.mode, [&] { gather(c.comm, source(), recv, root, c.options); },
            [&] { return igather(c.comm, source(), recv, root, c.options); },
            [&] { return gather_init(c.comm, source(), recv, root, c.options); },
            [&](int i) {
              const auto mine = block_of<T>(c.rank, 0, c.count, i);
              place(recv, 0, zeros<T>(recv.size()));
              if (in_place_here)
                place(recv, static_cast<std::size_t>(c.rank) * c.count, mine);
              else
                place(send, 0, mine);
            },
            [&](int i) {
              if (!is_root) return;
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
