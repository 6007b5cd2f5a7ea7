// SPDX-License-Identifier: BSD-3-Clause
// Data whose places and counts no int holds: elements of several GiB with two integers in each, of which only these
// take memory, and counts of elements without data.
#include <gtest/gtest.h>
#include <mpi.h>

#include <array>
#include <climits>
#include <cstddef>
#include <optional>
#include <vector>

#include "preload/arrays.hpp"
#include "preload/forms.hpp"
#include "preload/world.hpp"
#include "support/far_memory.hpp"

namespace tutti::test {
namespace {

/// A datatype of two integers, and where they are in an element.
struct FarType {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  std::array<MPI_Aint, 2> places{};
};

constexpr MPI_Aint gib = MPI_Aint{1} << 30;
constexpr MPI_Aint integer = sizeof(int);

FarType pair_with_a_gap() {
  FarType made{MPI_DATATYPE_NULL, {0, integer}};
  MPI_Type_create_resized(MPI_2INT, 0, 4 * gib + 4096, &made.type);
  return made;
}
FarType longest_stride() {
  FarType made{MPI_DATATYPE_NULL, {0, INT_MAX * integer}};
  MPI_Type_vector(2, 1, INT_MAX, MPI_INT, &made.type);
  return made;
}
FarType backward_list() {
  FarType made{MPI_DATATYPE_NULL, {5 * gib, 0}};
  const int lengths[] = {1, 1};
  MPI_Type_create_hindexed(2, lengths, made.places.data(), MPI_INT, &made.type);
  return made;
}
/// A column of two rows, at the end of a matrix of 17 GiB.
FarType end_of_a_matrix() {
  constexpr int n = 65537;
  FarType made{MPI_DATATYPE_NULL, {(MPI_Aint{n} * (n - 1) - 1) * integer, (MPI_Aint{n} * n - 1) * integer}};
  const int sizes[] = {n, n};
  const int parts[] = {2, 1};
  const int starts[] = {n - 2, n - 1};
  MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &made.type);
  return made;
}

/// Another one on each rank.
FarType far_type(int rank) {
  static constexpr std::array makers = {pair_with_a_gap, longest_stride, backward_list, end_of_a_matrix};
  return makers[static_cast<std::size_t>(rank) % makers.size()]();
}

/// Blocks of elements of such a type, block r of rank r, in reverse order.
class FarBlocks {
 public:
  static constexpr int count = 2;  ///< elements of a block
  static constexpr std::size_t values = 2 * count;

  FarBlocks(int rank, int blocks) : made_(far_type(rank)), blocks_(blocks) {
    MPI_Type_commit(&made_.type);
    MPI_Aint lower = 0;
    MPI_Type_get_extent(made_.type, &lower, &extent_);
    memory_.emplace(static_cast<std::size_t>(blocks * count * extent_));
    for (int r = 0; r < blocks; ++r) {
      counts.push_back(count);
      displs.push_back((blocks - 1 - r) * count);
      bytes.push_back(displs.back() * extent_);
    }
    types.assign(static_cast<std::size_t>(blocks), made_.type);
  }
  ~FarBlocks() { MPI_Type_free(&made_.type); }
  FarBlocks(const FarBlocks&) = delete;
  FarBlocks& operator=(const FarBlocks&) = delete;

  [[nodiscard]] bool is_there() const { return memory_->is_there(); }
  [[nodiscard]] MPI_Datatype type() const { return made_.type; }
  [[nodiscard]] std::byte* data() const { return memory_->data(); }
  /// Integer i of the block at a place.
  [[nodiscard]] int& at(int place, std::size_t i) const {
    const MPI_Aint element = place * count + static_cast<MPI_Aint>(i / 2);
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast)
    return *reinterpret_cast<int*>(data() + element * extent_ + made_.places[i % 2]);
  }
  /// The place of the block of a rank for calls with displacements.
  [[nodiscard]] int place_of(int rank) const { return blocks_ - 1 - rank; }

  std::vector<int> counts{};
  std::vector<int> displs{};
  std::vector<MPI_Aint> bytes{};
  std::vector<MPI_Datatype> types{};

 private:
  FarType made_;
  int blocks_;
  MPI_Aint extent_ = 0;
  std::optional<FarMemory> memory_{};
};

class FarPlaces : public testing::TestWithParam<Form> {
 protected:
  void SetUp() override {
    if (form == Form::persistent && !TUTTI_TEST_HAS_PERSISTENT)
      GTEST_SKIP() << "this MPI has no persistent collectives";
    int has_room = send.is_there() && recv.is_there() ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &has_room, 1, MPI_INT, MPI_MIN, comm.get());
    if (has_room == 0) GTEST_SKIP() << "the system gives no addresses without memory";
    before = calls_through_library();
  }
  void TearDown() override {
    if (!IsSkipped()) {
      EXPECT_GT(calls_through_library(), before);
    }
  }
  /// Fills the block at a place with what this rank has for another one.
  void fill(const FarBlocks& blocks, int place, int to, int round) const {
    for (std::size_t i = 0; i < FarBlocks::values; ++i) blocks.at(place, i) = value(comm.rank(), to, i, round);
  }
  void expect(int place, int from, int to, int round) const {
    for (std::size_t i = 0; i < FarBlocks::values; ++i)
      EXPECT_EQ(recv.at(place, i), value(from, to, i, round)) << "of rank " << from << ", integer " << i;
  }
  [[nodiscard]] auto fills_one() {
    return [this](int round) { fill(send, 0, 0, round); };
  }
  [[nodiscard]] auto fills_all() {
    return [this](int round) {
      for (int to = 0; to < size; ++to) fill(send, to, to, round);
    };
  }
  [[nodiscard]] auto fills_all_backwards() {
    return [this](int round) {
      for (int to = 0; to < size; ++to) fill(send, send.place_of(to), to, round);
    };
  }
  /// What ranks have for `to` stands at the places of these, on the ranks that receive.
  [[nodiscard]] auto expects_all(int to, bool is_backwards, bool receives = true) {
    return [=, this](int round) {
      for (int from = 0; receives && from < size; ++from)
        expect(is_backwards ? recv.place_of(from) : from, from, to, round);
    };
  }
  [[nodiscard]] auto expects_one(int from, int to) {
    return [=, this](int round) { expect(0, from, to, round); };
  }

  Form form = GetParam();
  ReversedWorld comm{};
  int size = comm.size();
  int root = comm.size() - 1;
  bool is_root = comm.rank() == root;
  FarBlocks send{comm.rank(), size};
  FarBlocks recv{comm.rank() + 1, size};
  std::uint64_t before = 0;
  static constexpr int n = FarBlocks::count;
};

TEST_P(FarPlaces, Bcast) {
  TUTTI_TEST_CALL(
      form,
      [&](int round) {
        for (std::size_t i = 0; i < FarBlocks::values; ++i) recv.at(0, i) = is_root ? value(root, 0, i, round) : 0;
      },
      expects_one(root, 0), Bcast, bcast, recv.data(), n, recv.type(), root, comm.get());
}

TEST_P(FarPlaces, GatherAndScatter) {
  TUTTI_TEST_CALL(form, fills_one(), expects_all(0, false, is_root), Gather, gather, send.data(), n, send.type(),
                  recv.data(), n, recv.type(), root, comm.get());
  TUTTI_TEST_CALL(form, fills_one(), expects_all(0, true, is_root), Gatherv, gatherv, send.data(), n, send.type(),
                  recv.data(), recv.counts.data(), recv.displs.data(), recv.type(), root, comm.get());
  TUTTI_TEST_CALL(form, fills_all(), expects_one(root, comm.rank()), Scatter, scatter, send.data(), n, send.type(),
                  recv.data(), n, recv.type(), root, comm.get());
  TUTTI_TEST_CALL(form, fills_all_backwards(), expects_one(root, comm.rank()), Scatterv, scatterv, send.data(),
                  send.counts.data(), send.displs.data(), send.type(), recv.data(), n, recv.type(), root, comm.get());
}

TEST_P(FarPlaces, Allgather) {
  TUTTI_TEST_CALL(form, fills_one(), expects_all(0, false), Allgather, allgather, send.data(), n, send.type(),
                  recv.data(), n, recv.type(), comm.get());
  TUTTI_TEST_CALL(form, fills_one(), expects_all(0, true), Allgatherv, allgatherv, send.data(), n, send.type(),
                  recv.data(), recv.counts.data(), recv.displs.data(), recv.type(), comm.get());
}

TEST_P(FarPlaces, Alltoall) {
  TUTTI_TEST_CALL(form, fills_all(), expects_all(comm.rank(), false), Alltoall, alltoall, send.data(), n, send.type(),
                  recv.data(), n, recv.type(), comm.get());
  TUTTI_TEST_CALL(form, fills_all_backwards(), expects_all(comm.rank(), true), Alltoallv, alltoallv, send.data(),
                  send.counts.data(), send.displs.data(), send.type(), recv.data(), recv.counts.data(),
                  recv.displs.data(), recv.type(), comm.get());
}

/// On a ring, which has places in bytes.
TEST_P(FarPlaces, NeighborAlltoallw) {
  const int periods[] = {1};
  MPI_Comm ring = MPI_COMM_NULL;
  MPI_Cart_create(comm.get(), 1, &size, periods, 0, &ring);
  make_side(ring);
  const int left = (comm.rank() + size - 1) % size;
  const int right = (comm.rank() + 1) % size;
  TUTTI_TEST_CALL(
      form,
      [&](int round) {
        fill(send, send.place_of(0), 0, round);
        fill(send, send.place_of(1), 1, round);
      },
      [&](int round) {
        expect(recv.place_of(0), left, 1, round);
        expect(recv.place_of(1), right, 0, round);
      },
      Neighbor_alltoallw, neighbor_alltoallw, send.data(), send.counts.data(), send.bytes.data(), send.types.data(),
      recv.data(), recv.counts.data(), recv.bytes.data(), recv.types.data(), ring);
  MPI_Comm_free(&ring);
}

#if MPI_VERSION >= 4
TEST_P(FarPlaces, LargeCounts) {
  const std::vector<MPI_Count> counts(static_cast<std::size_t>(size), n);
  const std::vector<MPI_Aint> places(recv.displs.begin(), recv.displs.end());
  make_call(
      form, fills_one(),
      [&] {
        MPI_Allgatherv_c(send.data(), n, send.type(), recv.data(), counts.data(), places.data(), recv.type(),
                         comm.get());
      },
      [&](MPI_Request* request) {
        MPI_Iallgatherv_c(send.data(), n, send.type(), recv.data(), counts.data(), places.data(), recv.type(),
                          comm.get(), request);
      },
      [&](MPI_Request* request) {
        MPI_Allgatherv_init_c(send.data(), n, send.type(), recv.data(), counts.data(), places.data(), recv.type(),
                              comm.get(), MPI_INFO_NULL, request);
      },
      expects_all(0, true));
  make_call(
      form, fills_all_backwards(),
      [&] {
        MPI_Alltoallw_c(send.data(), counts.data(), send.bytes.data(), send.types.data(), recv.data(), counts.data(),
                        recv.bytes.data(), recv.types.data(), comm.get());
      },
      [&](MPI_Request* request) {
        MPI_Ialltoallw_c(send.data(), counts.data(), send.bytes.data(), send.types.data(), recv.data(), counts.data(),
                         recv.bytes.data(), recv.types.data(), comm.get(), request);
      },
      [&](MPI_Request* request) {
        MPI_Alltoallw_init_c(send.data(), counts.data(), send.bytes.data(), send.types.data(), recv.data(),
                             counts.data(), recv.bytes.data(), recv.types.data(), comm.get(), MPI_INFO_NULL, request);
      },
      expects_all(comm.rank(), true));
}
#endif

constexpr std::array forms = {Form::blocking, Form::nonblocking, Form::persistent};
INSTANTIATE_TEST_SUITE_P(Forms, FarPlaces, testing::ValuesIn(forms));

/// As many elements without data as the arguments hold: neither their products with the ranks nor their sums are an
/// int.
TEST(ManyElements, WithoutData) {
  const ReversedWorld comm;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(0, MPI_INT, &type);
  MPI_Type_commit(&type);
  int word = comm.rank();
  int other = 5;
  const std::vector<int> most(static_cast<std::size_t>(comm.size()), INT_MAX);
  const std::uint64_t before = calls_through_library();
  MPI_Bcast(&word, INT_MAX, type, 0, comm.get());
  MPI_Allgather(&word, INT_MAX, type, &other, 0, type, comm.get());
  MPI_Alltoall(&word, INT_MAX, type, &other, INT_MAX, type, comm.get());
  MPI_Allgatherv(&word, INT_MAX, type, &other, most.data(), most.data(), type, comm.get());
#if MPI_VERSION >= 4
  MPI_Bcast_c(&word, MPI_Count{1} << 40, type, 0, comm.get());
#endif
  EXPECT_GT(calls_through_library(), before);
  EXPECT_EQ(word, comm.rank());
  EXPECT_EQ(other, 5);
  MPI_Type_free(&type);
}

}  // namespace
}  // namespace tutti::test
