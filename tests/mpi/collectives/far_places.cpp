// SPDX-License-Identifier: BSD-3-Clause
// Blocks whose displacements no int holds, of elements that take memory alone where they are.
#include "mpi/collectives/movement.hpp"
#include "support/far_memory.hpp"

namespace tutti::test {
namespace {

/// Blocks of a few elements in reverse order, more than 2^32 elements apart.
class FarBlocks {
 public:
  using Element = std::int64_t;
  static constexpr std::size_t distance = (std::size_t{1} << 32U) + 7;

  FarBlocks(std::size_t blocks, std::size_t count)
      : counts(blocks, count), memory_((blocks * distance + count) * sizeof(Element)) {
    for (std::size_t r = 0; r < blocks; ++r) displs.push_back((blocks - r) * distance);
  }
  [[nodiscard]] bool is_there() const { return memory_.is_there(); }
  [[nodiscard]] Element* data() const {
    return reinterpret_cast<Element*>(memory_.data());  // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast)
  }
  [[nodiscard]] std::size_t size() const { return displs.front() + counts.front(); }
  void put(std::size_t block, int from, std::size_t to, int iteration) const {
    const auto values = block_of<Element>(from, to, counts[block], iteration);
    std::copy(values.begin(), values.end(), data() + displs[block]);
  }
  void expect(std::size_t block, int from, std::size_t to, int iteration, const Case& c) const {
    const Element* const begin = data() + displs[block];
    EXPECT_EQ(std::vector<Element>(begin, begin + counts[block]), block_of<Element>(from, to, counts[block], iteration))
        << c.describe() << ", block " << block;
  }

  std::vector<std::size_t> counts;
  std::vector<std::size_t> displs{};

 private:
  FarMemory memory_;
};

class FarPlaces : public testing::Test {
 protected:
  void SetUp() override {
    int is_there = send.is_there() && recv.is_there() ? 1 : 0;
    allreduce(communicators().front(), &is_there, 1, min);
    if (is_there == 0) GTEST_SKIP() << "the system gives no addresses without memory";
  }
  template <typename Body>
  void for_each_form(Operation operation, const Body& body) const {
    for_each_case(operation, [&](const Case& c) {
      if (c.count == few && c.group == 0) body(c);
    });
  }
  static constexpr std::size_t few = 2;  // one of sizes()
  std::size_t ranks = static_cast<std::size_t>(communicators().front().size());
  FarBlocks send{ranks, few};
  FarBlocks recv{ranks, few};
  Buffer out{send.data(), send.size()};
  Buffer in{recv.data(), recv.size()};
};

TEST_F(FarPlaces, Gatherv) {
  for_each_form(Operation::gatherv, [&](const Case& c) {
    const int root = c.size - 1;
    const ConstBuffer mine(send.data() + send.displs[0], few);
    exercise(
        c.mode, [&] { gatherv(c.comm, mine, in, recv.counts, recv.displs, root, c.options); },
        [&] { return igatherv(c.comm, mine, in, recv.counts, recv.displs, root, c.options); },
        [&] { return gatherv_init(c.comm, mine, in, recv.counts, recv.displs, root, c.options); },
        [&](int i) { send.put(0, c.rank, 0, i); },
        [&](int i) {
          for (std::size_t r = 0; c.rank == root && r < ranks; ++r) recv.expect(r, static_cast<int>(r), 0, i, c);
        });
  });
}

TEST_F(FarPlaces, Scatterv) {
  for_each_form(Operation::scatterv, [&](const Case& c) {
    const Buffer mine(recv.data() + recv.displs[0], few);
    exercise(
        c.mode, [&] { scatterv(c.comm, out, send.counts, send.displs, mine, 0, c.options); },
        [&] { return iscatterv(c.comm, out, send.counts, send.displs, mine, 0, c.options); },
        [&] { return scatterv_init(c.comm, out, send.counts, send.displs, mine, 0, c.options); },
        [&](int i) {
          for (std::size_t r = 0; r < ranks; ++r) send.put(r, c.rank, r, i);
        },
        [&](int i) { recv.expect(0, 0, static_cast<std::size_t>(c.rank), i, c); });
  });
}

TEST_F(FarPlaces, Allgatherv) {
  for_each_form(Operation::allgatherv, [&](const Case& c) {
    for (const bool in_place_call : c.forms) {
      const auto own = static_cast<std::size_t>(c.rank);
      const ConstBuffer mine = in_place_call ? ConstBuffer(in_place) : ConstBuffer(send.data() + send.displs[0], few);
      exercise(
          c.mode, [&] { allgatherv(c.comm, mine, in, recv.counts, recv.displs, c.options); },
          [&] { return iallgatherv(c.comm, mine, in, recv.counts, recv.displs, c.options); },
          [&] { return allgatherv_init(c.comm, mine, in, recv.counts, recv.displs, c.options); },
          [&](int i) { in_place_call ? recv.put(own, c.rank, 0, i) : send.put(0, c.rank, 0, i); },
          [&](int i) {
            for (std::size_t r = 0; r < ranks; ++r) recv.expect(r, static_cast<int>(r), 0, i, c);
          });
    }
  });
}

/// In place it takes a copy of its blocks, and not of what lies between them.
TEST_F(FarPlaces, Alltoallv) {
  for_each_form(Operation::alltoallv, [&](const Case& c) {
    for (const bool in_place_call : c.forms) {
      const FarBlocks& given = in_place_call ? recv : send;
      const ConstBuffer from = in_place_call ? ConstBuffer(in_place) : ConstBuffer(out);
      exercise(
          c.mode, [&] { alltoallv(c.comm, from, given.counts, given.displs, in, recv.counts, recv.displs, c.options); },
          [&] { return ialltoallv(c.comm, from, given.counts, given.displs, in, recv.counts, recv.displs, c.options); },
          [&] {
            return alltoallv_init(c.comm, from, given.counts, given.displs, in, recv.counts, recv.displs, c.options);
          },
          [&](int i) {
            for (std::size_t r = 0; r < ranks; ++r) given.put(r, c.rank, r, i);
          },
          [&](int i) {
            for (std::size_t r = 0; r < ranks; ++r)
              recv.expect(r, static_cast<int>(r), static_cast<std::size_t>(c.rank), i, c);
          });
    }
  });
}

/// Elements of one block, each as far from the next, backwards.
TEST_F(FarPlaces, Layouts) {
  for_each_form(Operation::bcast, [&](const Case& c) {
    const Layout spread = Layout::vector(few, 1, -static_cast<std::ptrdiff_t>(FarBlocks::distance));
    const Buffer data(recv.data() + recv.displs[0], spread);
    exercise(
        c.mode, [&] { bcast(c.comm, data, 0, c.options); }, [&] { return ibcast(c.comm, data, 0, c.options); },
        [&] { return bcast_init(c.comm, data, 0, c.options); },
        [&](int i) {
          for (std::size_t k = 0; k < few; ++k) recv.data()[recv.displs[k]] = c.rank == 0 ? i * 10 + 5 + (k > 0) : 0;
        },
        [&](int i) {
          for (std::size_t k = 0; k < few; ++k)
            EXPECT_EQ(recv.data()[recv.displs[k]], i * 10 + 5 + (k > 0)) << c.describe();
        });
  });
}

}  // namespace
}  // namespace tutti::test
