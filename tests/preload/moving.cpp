// SPDX-License-Identifier: BSD-3-Clause
// Collectives that move data, for programs that call MPI only. Ranks describe the same data by different datatypes.
#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "preload/arrays.hpp"
#include "preload/forms.hpp"
#include "preload/world.hpp"

namespace tutti::test {
namespace {

using Case = std::tuple<Form, int>;  // the form and the number of elements, an even one

/// Another shape on each rank.
Shape shape_of(int rank, int shift) { return static_cast<Shape>((rank + shift) % 3); }

class Moving : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (form == Form::persistent && !TUTTI_TEST_HAS_PERSISTENT)
      GTEST_SKIP() << "this MPI has no persistent collectives";
    before = calls_through_library();
  }
  void TearDown() override {
    if (!IsSkipped() && comm.size() > 1) {
      EXPECT_GT(calls_through_library(), before);
    }
  }
  Form form = std::get<0>(GetParam());
  int n = std::get<1>(GetParam());
  std::size_t elements = static_cast<std::size_t>(n);
  ReversedWorld comm{};
  std::uint64_t before = 0;

  /// Fills what this rank has for all ranks.
  void fill(Array& array, int ranks, int round) const {
    for (int to = 0; to < ranks; ++to)
      for (std::size_t i = 0; i < elements; ++i)
        array[static_cast<std::size_t>(to) * elements + i] = value(comm.rank(), to, i, round);
  }
  void expect(Array& array, int block, int from, int to, int round) const {
    for (std::size_t i = 0; i < elements; ++i)
      ASSERT_EQ(array[static_cast<std::size_t>(block) * elements + i], value(from, to, i, round)) << "element " << i;
  }
  void expect_exchanged(Array& recv, int round) const;
  [[nodiscard]] std::size_t all() const { return elements * static_cast<std::size_t>(comm.size()); }
};

TEST_P(Moving, Bcast) {
  for (int root = 0; root < comm.size(); ++root) {
    Array array(shape_of(comm.rank(), root), elements);
    TUTTI_TEST_CALL(
        form,
        [&](int round) {
          for (std::size_t i = 0; i < elements; ++i) array[i] = comm.rank() == root ? value(root, 0, i, round) : 0;
        },
        [&](int round) {
          expect(array, 0, root, 0, round);
          EXPECT_TRUE(array.has_clean_gaps(elements));
        },
        Bcast, bcast, array.data(), n / array.step(), array.type(), root, comm.get());
  }
}

TEST_P(Moving, Gather) {
  for (int root = 0; root < comm.size(); ++root) {
    Array send(shape_of(comm.rank(), root), elements);
    Array recv(shape_of(comm.rank(), root + 1), all());
    TUTTI_TEST_CALL(
        form, [&](int round) { fill(send, 1, round); },
        [&](int round) {
          for (int from = 0; comm.rank() == root && from < comm.size(); ++from) expect(recv, from, from, 0, round);
          EXPECT_TRUE(recv.has_clean_gaps(comm.rank() == root ? all() : 0));
        },
        Gather, gather, send.data(), n / send.step(), send.type(), recv.data(), n / recv.step(), recv.type(), root,
        comm.get());
  }
}

TEST_P(Moving, Scatter) {
  for (int root = 0; root < comm.size(); ++root) {
    Array send(shape_of(comm.rank(), root), all());
    Array recv(shape_of(comm.rank(), root + 1), elements);
    TUTTI_TEST_CALL(
        form, [&](int round) { fill(send, comm.size(), round); },
        [&](int round) { expect(recv, 0, root, comm.rank(), round); }, Scatter, scatter, send.data(), n / send.step(),
        send.type(), recv.data(), n / recv.step(), recv.type(), root, comm.get());
  }
}

TEST_P(Moving, Allgather) {
  Array send(shape_of(comm.rank(), 0), elements);
  Array recv(shape_of(comm.rank(), 1), all());
  TUTTI_TEST_CALL(
      form, [&](int round) { fill(send, 1, round); },
      [&](int round) {
        for (int from = 0; from < comm.size(); ++from) expect(recv, from, from, 0, round);
      },
      Allgather, allgather, send.data(), n / send.step(), send.type(), recv.data(), n / recv.step(), recv.type(),
      comm.get());
}

TEST_P(Moving, AllgatherInPlace) {
  Array recv(shape_of(comm.rank(), 1), all());
  TUTTI_TEST_CALL(
      form,
      [&](int round) {
        for (std::size_t i = 0; i < elements; ++i)
          recv[static_cast<std::size_t>(comm.rank()) * elements + i] = value(comm.rank(), 0, i, round);
      },
      [&](int round) {
        for (int from = 0; from < comm.size(); ++from) expect(recv, from, from, 0, round);
      },
      Allgather, allgather, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, recv.data(), n / recv.step(), recv.type(), comm.get());
}

TEST_P(Moving, Alltoall) {
  Array send(shape_of(comm.rank(), 2), all());
  Array recv(shape_of(comm.rank(), 1), all());
  TUTTI_TEST_CALL(
      form, [&](int round) { fill(send, comm.size(), round); },
      [&](int round) {
        for (int from = 0; from < comm.size(); ++from) expect(recv, from, from, comm.rank(), round);
      },
      Alltoall, alltoall, send.data(), n / send.step(), send.type(), recv.data(), n / recv.step(), recv.type(),
      comm.get());
}

TEST_P(Moving, AlltoallInPlace) {
  Array recv(shape_of(comm.rank(), 1), all());
  TUTTI_TEST_CALL(
      form, [&](int round) { fill(recv, comm.size(), round); },
      [&](int round) {
        for (int from = 0; from < comm.size(); ++from) expect(recv, from, from, comm.rank(), round);
      },
      Alltoall, alltoall, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, recv.data(), n / recv.step(), recv.type(), comm.get());
}

/// After an exchange of such blocks.
void Moving::expect_exchanged(Array& recv, int round) const {
  for (int r = 0; r < comm.size(); ++r)
    expect(recv, Backwards::block(r, comm.size()), r, Backwards::block(comm.rank(), comm.size()), round);
}

TEST_P(Moving, Gatherv) {
  for (int root = 0; root < comm.size(); ++root) {
    Array send(shape_of(comm.rank(), root), elements);
    Array recv(shape_of(comm.rank(), root + 1), all());
    const Backwards to(comm.size(), n, recv);
    TUTTI_TEST_CALL(
        form, [&](int round) { fill(send, 1, round); },
        [&](int round) {
          for (int from = 0; comm.rank() == root && from < comm.size(); ++from)
            expect(recv, Backwards::block(from, comm.size()), from, 0, round);
        },
        Gatherv, gatherv, send.data(), n / send.step(), send.type(), to.address, to.counts.data(), to.displs.data(),
        recv.type(), root, comm.get());
  }
}

TEST_P(Moving, Scatterv) {
  for (int root = 0; root < comm.size(); ++root) {
    Array send(shape_of(comm.rank(), root), all());
    Array recv(shape_of(comm.rank(), root + 1), elements);
    const Backwards from(comm.size(), n, send);
    TUTTI_TEST_CALL(
        form, [&](int round) { fill(send, comm.size(), round); },
        [&](int round) { expect(recv, 0, root, Backwards::block(comm.rank(), comm.size()), round); }, Scatterv,
        scatterv, from.address, from.counts.data(), from.displs.data(), send.type(), recv.data(), n / recv.step(),
        recv.type(), root, comm.get());
  }
}

TEST_P(Moving, Allgatherv) {
  Array send(shape_of(comm.rank(), 0), elements);
  Array recv(shape_of(comm.rank(), 1), all());
  const Backwards to(comm.size(), n, recv);
  TUTTI_TEST_CALL(
      form, [&](int round) { fill(send, 1, round); },
      [&](int round) {
        for (int from = 0; from < comm.size(); ++from)
          expect(recv, Backwards::block(from, comm.size()), from, 0, round);
      },
      Allgatherv, allgatherv, send.data(), n / send.step(), send.type(), to.address, to.counts.data(), to.displs.data(),
      recv.type(), comm.get());
}

TEST_P(Moving, Alltoallv) {
  Array send(shape_of(comm.rank(), 2), all());
  Array recv(shape_of(comm.rank(), 1), all());
  const Backwards from(comm.size(), n, send);
  const Backwards to(comm.size(), n, recv);
  TUTTI_TEST_CALL(
      form, [&](int round) { fill(send, comm.size(), round); }, [&](int round) { expect_exchanged(recv, round); },
      Alltoallv, alltoallv, from.address, from.counts.data(), from.displs.data(), send.type(), to.address,
      to.counts.data(), to.displs.data(), recv.type(), comm.get());
}

TEST_P(Moving, Alltoallw) {
  Array send(shape_of(comm.rank(), 2), all());
  Array recv(shape_of(comm.rank(), 1), all());
  const Backwards from(comm.size(), n, send);
  const Backwards to(comm.size(), n, recv);
  TUTTI_TEST_CALL(
      form, [&](int round) { fill(send, comm.size(), round); }, [&](int round) { expect_exchanged(recv, round); },
      Alltoallw, alltoallw, from.address, from.counts.data(), from.bytes.data(), from.types.data(), to.address,
      to.counts.data(), to.bytes.data(), to.types.data(), comm.get());
}

/// Rank 0 names its blocks by types with addresses of their own, and displacements that look like MPI_IN_PLACE.
TEST_P(Moving, AlltoallwByTypesWithAddressesOnOneRank) {
  Array send(Shape::plain, all());
  Array recv(Shape::plain, all());
  const auto size = static_cast<std::size_t>(comm.size());
  const std::vector<int> counts(size, n);
  std::vector<int> places(size, -1);
  std::vector<MPI_Datatype> sent(size, MPI_INT);
  std::vector<MPI_Datatype> received(size, MPI_INT);
  for (std::size_t r = 0; r < size; ++r) {
    if (comm.rank() != 0) places[r] = static_cast<int>(r * elements * sizeof(int));
    for (auto& [array, types] : {std::pair(&send, &sent), std::pair(&recv, &received)}) {
      if (comm.rank() != 0) continue;
      MPI_Aint address = 0;
      MPI_Get_address(array->data() + r * elements, &address);
      MPI_Type_create_hindexed_block(1, 1, std::array{address + 1}.data(), MPI_INT, &(*types)[r]);
      MPI_Type_commit(&(*types)[r]);
    }
  }
  TUTTI_TEST_CALL(
      form, [&](int round) { fill(send, comm.size(), round); },
      [&](int round) {
        for (int r = 0; r < comm.size(); ++r) expect(recv, r, r, comm.rank(), round);
      },
      Alltoallw, alltoallw, comm.rank() == 0 ? MPI_BOTTOM : send.data(), counts.data(), places.data(), sent.data(),
      comm.rank() == 0 ? MPI_BOTTOM : recv.data(), counts.data(), places.data(), received.data(), comm.get());
  for (std::size_t r = 0; comm.rank() == 0 && r < size; ++r)
    for (std::vector<MPI_Datatype>* types : {&sent, &received}) MPI_Type_free(&(*types)[r]);
}

/// Rank 0 has blocks for all ranks and the others for rank 0 alone. Beside their empty blocks stands MPI_DATATYPE_NULL.
TEST_P(Moving, AlltoallwWithoutTypesOfEmptyBlocks) {
  Array send(Shape::plain, all());
  Array recv(Shape::plain, all());
  const auto talks = [&](int r) { return comm.rank() == 0 || r == 0; };
  std::vector<int> counts;
  std::vector<int> places;
  std::vector<MPI_Datatype> types;
  for (int r = 0; r < comm.size(); ++r) {
    counts.push_back(talks(r) ? n : 0);
    places.push_back(r * n * static_cast<int>(sizeof(int)));
    types.push_back(talks(r) && n > 0 ? MPI_INT : MPI_DATATYPE_NULL);
  }
  TUTTI_TEST_CALL(
      form, [&](int round) { fill(send, comm.size(), round); },
      [&](int round) {
        for (int r = 0; r < comm.size(); ++r) {
          if (talks(r)) expect(recv, r, r, comm.rank(), round);
          if (!talks(r) && n > 0) {
            ASSERT_EQ(recv[static_cast<std::size_t>(r) * elements], Array::untouched);
          }
        }
      },
      Alltoallw, alltoallw, send.data(), counts.data(), places.data(), types.data(), recv.data(), counts.data(),
      places.data(), types.data(), comm.get());
}

/// The last rank takes part with nothing, and has no type for it.
class MovingNothing : public Moving {
 protected:
  [[nodiscard]] bool is_last() const { return comm.rank() == comm.size() - 1; }
  /// After a call in which all others have given each rank (or one of them) a block.
  void expect_of_others(int to, int round) {
    for (int from = 0; from < comm.size() - 1; ++from) expect(recv, from, from, to, round);
  }
  int own = is_last() ? 0 : n;
  MPI_Datatype type = is_last() ? MPI_DATATYPE_NULL : MPI_INT;
  std::vector<int> counts = std::vector<int>(static_cast<std::size_t>(comm.size()), n);
  std::vector<int> none = std::vector<int>(static_cast<std::size_t>(comm.size()), 0);
  std::vector<int> places = none;
  Array send{Shape::plain, all()};
  Array recv{Shape::plain, all()};

  MovingNothing() {
    counts.back() = 0;
    for (int r = 0; r < comm.size(); ++r) places[static_cast<std::size_t>(r)] = r * n;
  }
};

TEST_P(MovingNothing, Gatherv) {
  TUTTI_TEST_CALL(
      form, [&](int round) { fill(send, 1, round); },
      [&](int round) {
        if (comm.rank() == 0) expect_of_others(0, round);
      },
      Gatherv, gatherv, send.data(), own, type, recv.data(), counts.data(), places.data(), MPI_INT, 0, comm.get());
}

TEST_P(MovingNothing, Scatterv) {
  TUTTI_TEST_CALL(
      form, [&](int round) { fill(send, comm.size(), round); },
      [&](int round) {
        if (!is_last()) expect(recv, 0, 0, comm.rank(), round);
      },
      Scatterv, scatterv, send.data(), counts.data(), places.data(), MPI_INT, recv.data(), own, type, 0, comm.get());
}

TEST_P(MovingNothing, Allgatherv) {
  TUTTI_TEST_CALL(
      form, [&](int round) { fill(send, 1, round); }, [&](int round) { expect_of_others(0, round); }, Allgatherv,
      allgatherv, send.data(), own, type, recv.data(), counts.data(), places.data(), MPI_INT, comm.get());
}

TEST_P(MovingNothing, Alltoallv) {
  const int* const numbers = is_last() ? none.data() : counts.data();
  TUTTI_TEST_CALL(
      form, [&](int round) { fill(send, comm.size(), round); },
      [&](int round) {
        if (!is_last()) expect_of_others(comm.rank(), round);
      },
      Alltoallv, alltoallv, send.data(), numbers, places.data(), type, recv.data(), numbers, places.data(), type,
      comm.get());
}

int count_copy(MPI_Datatype, int, void* copies, void*, void*, int* flag) {
  ++*static_cast<int*>(copies);
  *flag = 0;
  return MPI_SUCCESS;
}

TEST_P(Moving, TypesThatAreFreedBeforeTheWait) {
  if (form != Form::nonblocking) GTEST_SKIP() << "of nonblocking calls";
  Array send(shape_of(comm.rank(), 0), elements);
  int copies = 0;
  int keyval = MPI_KEYVAL_INVALID;
  MPI_Type_create_keyval(count_copy, MPI_TYPE_NULL_DELETE_FN, &keyval, &copies);
  if (send.type() != MPI_INT) MPI_Type_set_attr(send.type(), keyval, &copies);
  Array recv(shape_of(comm.rank(), 1), all());
  fill(send, 1, 0);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallgather(send.data(), n / send.step(), send.type(), recv.data(), n / recv.step(), recv.type(), comm.get(),
                 &request);
  send.free_type();
  recv.free_type();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int from = 0; from < comm.size(); ++from) expect(recv, from, from, 0, 0);
  EXPECT_EQ(copies, 0);
  MPI_Type_free_keyval(&keyval);
}

#if MPI_VERSION >= 4
/// Every rank describes the data of all by another type, made with large counts.
TEST_P(Moving, TypesOfLargeCounts) {
  if (n == 0) GTEST_SKIP() << "of types with data";
  Array array(shape_of(comm.rank(), 0), elements);
  MPI_Datatype one = MPI_DATATYPE_NULL;
  MPI_Datatype whole = MPI_DATATYPE_NULL;
  MPI_Datatype copy = MPI_DATATYPE_NULL;
  MPI_Type_contiguous_c(1, array.type(), &one);
  MPI_Type_vector_c(n / array.step(), 1, 1, one, &whole);
  MPI_Type_dup(whole, &copy);
  MPI_Type_commit(&copy);
  TUTTI_TEST_CALL(
      form,
      [&](int round) {
        for (std::size_t i = 0; i < elements; ++i) array[i] = comm.rank() == 0 ? value(0, 0, i, round) : 0;
      },
      [&](int round) {
        expect(array, 0, 0, 0, round);
        EXPECT_TRUE(array.has_clean_gaps(elements));
      },
      Bcast, bcast, array.data(), 1, copy, 0, comm.get());
  for (MPI_Datatype* type : {&one, &whole, &copy}) MPI_Type_free(type);
}

TEST_P(Moving, LargeCounts) {
  if (form != Form::blocking) GTEST_SKIP() << "of one form";
  Array send(shape_of(comm.rank(), 2), all());
  Array recv(shape_of(comm.rank(), 1), all());
  const std::vector<MPI_Count> sent(static_cast<std::size_t>(comm.size()), n / send.step());
  const std::vector<MPI_Count> received(static_cast<std::size_t>(comm.size()), n / recv.step());
  std::vector<MPI_Aint> from;
  std::vector<MPI_Aint> to;
  for (int r = 0; r < comm.size(); ++r) {
    from.push_back(r * (n / send.step()));
    to.push_back(r * (n / recv.step()));
  }
  fill(send, comm.size(), 0);
  MPI_Alltoallv_c(send.data(), sent.data(), from.data(), send.type(), recv.data(), received.data(), to.data(),
                  recv.type(), comm.get());
  for (int r = 0; r < comm.size(); ++r) expect(recv, r, r, comm.rank(), 0);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ialltoall_c(send.data(), n / send.step(), send.type(), recv.data(), n / recv.step(), recv.type(), comm.get(),
                  &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int r = 0; r < comm.size(); ++r) expect(recv, r, r, comm.rank(), 0);
}
#endif

const auto cases = testing::Combine(testing::Values(Form::blocking, Form::nonblocking, Form::persistent),
                                    testing::Values(0, 2, 30, 5000));
INSTANTIATE_TEST_SUITE_P(Forms, Moving, cases);
INSTANTIATE_TEST_SUITE_P(Forms, MovingNothing, cases);

}  // namespace
}  // namespace tutti::test
