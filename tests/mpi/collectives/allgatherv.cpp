// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/allgatherv.hpp>

#include "mpi/collectives/movement.hpp"

namespace tutti::test {
namespace {

template <typename T>
class Allgatherv : public ::testing::Test {};
TYPED_TEST_SUITE(Allgatherv, MovementTypes);

TYPED_TEST(Allgatherv, MovesEveryElementInAllForms) {
  using T = TypeParam;
  for_each_case<T>(Operation::allgatherv, [](const Case& c) {
    if (!std::is_same_v<T, float> && c.count > 100) return;
    for (const bool in_place_call : c.forms) {
      const Uneven u = uneven(uneven_counts(c.count, c.size, 0));
      const auto rank = static_cast<std::size_t>(c.rank);
      std::vector<T> send(u.counts[rank]);
      std::vector<T> recv(u.extent);
      const auto source = [&]() -> ConstBuffer { return in_place_call ? ConstBuffer(in_place) : ConstBuffer(send); };
      exercise(
          c.mode, [&] { allgatherv(c.comm, source(), recv, u.counts, u.displs, c.options); },
          [&] { return iallgatherv(c.comm, source(), recv, u.counts, u.displs, c.options); },
          [&] { return allgatherv_init(c.comm, source(), recv, u.counts, u.displs, c.options); },
          [&](int i) {
            const auto mine = block_of<T>(c.rank, 0, u.counts[rank], i);
            place(recv, 0, zeros<T>(recv.size()));
            place(send, 0, mine);
            if (in_place_call) place(recv, u.displs[rank], mine);
          },
          [&](int i) {
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
