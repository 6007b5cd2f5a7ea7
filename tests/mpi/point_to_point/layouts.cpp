// SPDX-License-Identifier: BSD-3-Clause
// Buffers that are not contiguous, in messages and in the collectives that take them.
#include <mpi.h>

#include <functional>
#include <numeric>
#include <string>
#include <tutti/tutti.hpp>

#include "mpi/collectives/movement.hpp"

namespace tutti::test {
namespace {

const Communicator& world() { return communicators().front(); }
int right() { return (world().rank() + 1) % world().size(); }
int left() { return (world().rank() + world().size() - 1) % world().size(); }
std::size_t ranks() { return static_cast<std::size_t>(world().size()); }

constexpr std::size_t rows = 6;
constexpr std::size_t columns = 8;

/// A matrix by rows; each element tells its rank, place and iteration.
std::vector<double> matrix(int rank, int iteration, std::size_t width = columns) {
  std::vector<double> values(rows * width);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = 1000.0 * rank + static_cast<double>(i) + 0.125 * iteration;
  return values;
}

Layout column(std::size_t width = columns) { return Layout::vector(rows, 1, static_cast<std::ptrdiff_t>(width)); }

/// The inner cells of a matrix with a rim.
Layout inner() {
  const std::size_t sizes[] = {rows, columns};
  const std::size_t subsizes[] = {rows - 2, columns - 2};
  const std::size_t starts[] = {1, 1};
  return Layout::subarray(sizes, subsizes, starts);
}

/// Column j of a matrix.
std::vector<double> column_of(const std::vector<double>& values, std::size_t j, std::size_t width = columns) {
  std::vector<double> found;
  for (std::size_t i = 0; i < rows; ++i) found.push_back(values[i * width + j]);
  return found;
}

/// Compares the order of elements with the host MPI's pack of the same datatype.
void expect_as_mpi(const Layout& layout, MPI_Datatype type, int count, const std::string& what) {
  std::vector<double> from(2000);
  std::iota(from.begin(), from.end(), 0.0);
  MPI_Type_commit(&type);
  const std::size_t n = layout.elements() * static_cast<std::size_t>(count);
  std::vector<double> expected(n);
  int at = 0;
  MPI_Pack(from.data(), count, type, expected.data(), static_cast<int>(n * sizeof(double)), &at, MPI_COMM_SELF);
  MPI_Type_free(&type);
  ASSERT_EQ(static_cast<std::size_t>(at), n * sizeof(double)) << what;
  std::vector<double> packed(n, -1);
  const auto self = Communicator::duplicate(MPI_COMM_SELF);
  sendrecv(self, ConstBuffer(from.data(), static_cast<std::size_t>(count), layout), 0, 0, packed, 0, 0);
  EXPECT_EQ(packed, expected) << what;
}

TEST(Layouts, HaveTheElementsOfMpisDatatypes) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(5, 3, 7, MPI_DOUBLE, &type);
  expect_as_mpi(Layout::vector(5, 3, 7), type, 1, "vector");
  MPI_Type_vector(5, 3, 7, MPI_DOUBLE, &type);
  expect_as_mpi(Layout::vector(5, 3, 7), type, 4, "vectors");
  const int sizes[] = {7, 5, 6};
  const int subsizes[] = {3, 2, 4};
  const int starts[] = {2, 3, 1};
  const std::vector<std::size_t> s(sizes, sizes + 3);
  const std::vector<std::size_t> sub(subsizes, subsizes + 3);
  const std::vector<std::size_t> from(starts, starts + 3);
  MPI_Type_create_subarray(3, sizes, subsizes, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
  expect_as_mpi(Layout::subarray(s, sub, from), type, 3, "subarrays");
  MPI_Type_create_subarray(3, sizes, subsizes, starts, MPI_ORDER_FORTRAN, MPI_DOUBLE, &type);
  expect_as_mpi(Layout::subarray(s, sub, from, ArrayOrder::fortran), type, 3, "subarrays by columns");
  MPI_Datatype wide = MPI_DATATYPE_NULL;
  MPI_Type_vector(6, 1, 8, MPI_DOUBLE, &wide);
  MPI_Type_create_resized(wide, 0, sizeof(double), &type);
  MPI_Type_free(&wide);
  expect_as_mpi(Layout::vector(6, 1, 8).resized(1), type, 5, "resized");
}

TEST(Layouts, AColumnArrivesInAColumnARowAndASubarray) {
  for (int i = 0; i < 2; ++i) {
    const auto from = matrix(world().rank(), i);
    auto to = matrix(9, 9);
    const auto expected = column_of(matrix(left(), i), columns - 1);
    sendrecv(world(), ConstBuffer(&from[columns - 1], column()), right(), 1, Buffer(to.data(), column()), left(), 1);
    EXPECT_EQ(column_of(to, 0), expected);
    auto untouched = matrix(9, 9);
    for (std::size_t r = 0; r < rows; ++r) untouched[r * columns] = expected[r];
    EXPECT_EQ(to, untouched) << "elements beside the column";
    std::vector<double> row(rows);
    const Status status = sendrecv(world(), ConstBuffer(&from[columns - 1], column()), right(), 1, row, left(), 1);
    EXPECT_EQ(row, expected);
    EXPECT_EQ(status.count, rows);
  }
}

TEST(Layouts, ShorterMessagesFillTheFirstElements) {
  const std::vector<double> out = {1.5, 2.5, 3.5};
  auto in = matrix(7, 0);
  auto expected = in;
  for (std::size_t i = 0; i < 3; ++i) expected[i * columns] = out[i];
  EXPECT_EQ(sendrecv(world(), out, right(), 2, Buffer(in.data(), column()), left(), 2).count, 3U);
  EXPECT_EQ(in, expected);
}

TEST(Layouts, NonblockingPersistentAndGroups) {
  auto from = matrix(world().rank(), 0);
  std::vector<double> to(rows * columns);
  const auto check = [&](int i, const char* what) {
    EXPECT_EQ(column_of(to, 2), column_of(matrix(left(), i), 5)) << what;
    EXPECT_EQ(std::count(to.begin(), to.end(), -1.0), static_cast<std::ptrdiff_t>(rows * (columns - 1))) << what;
    to.assign(to.size(), -1.0);
  };
  to.assign(to.size(), -1.0);
  {
    Request requests[] = {irecv(world(), Buffer(&to[2], column()), left(), 3),
                          isend(world(), ConstBuffer(&from[5], column()), right(), 3)};
    wait_all(requests);
    check(0, "nonblocking");
  }
  Group group(world());
  group.recv(Buffer(&to[2], column()), left()).send(ConstBuffer(&from[5], column()), right());
  Request halo = group.init();
  for (int i = 1; i < 4; ++i) {
    place(from, 0, matrix(world().rank(), i));
    halo.start();
    halo.wait();
    check(i, "persistent");
  }
  group.recv(Buffer(&to[2], column()), left()).send(ConstBuffer(&from[5], column()), right()).run();
  check(3, "group");
}

TEST(Layouts, ATimeoutKeepsThePackedMemory) {
  std::vector<double> to(rows * columns, -1);
  EXPECT_THROW(recv(world(), Buffer(to.data(), column()), left(), 88, {.timeout = std::chrono::milliseconds(10)}),
               Error);
  Request posted = irecv(world(), Buffer(to.data(), column()), left(), 89, {.timeout = std::chrono::milliseconds(10)});
  EXPECT_THROW(posted.wait(), Error);
  EXPECT_EQ(to, std::vector<double>(rows * columns, -1));
}

/// One form of a call: blocking, nonblocking or persistent with several starts.
using Blocking = std::function<void()>;
using Start = std::function<Request()>;
void in_all_forms(const Blocking& blocking, const Start& nonblocking, const Start& persistent,
                  const std::function<void(int)>& fill, const std::function<void(int, const char*)>& check) {
  fill(0);
  blocking();
  check(0, "blocking");
  fill(1);
  nonblocking().wait();
  check(1, "nonblocking");
  Request request = persistent();
  for (int i = 2; i < 5; ++i) {
    fill(i);
    request.start();
    request.wait();
    check(i, "persistent");
  }
}

TEST(LayoutsOfCollectives, Bcast) {
  for (int root = 0; root < world().size(); ++root) {
    std::vector<double> data;
    // The root sends a part of a matrix; the others receive it contiguous or in such a part, by turns.
    const bool laid = root == world().rank() || world().rank() % 2 == 0;
    const auto buffer = [&] { return laid ? Buffer(data.data(), inner()) : Buffer(data.data(), inner().elements()); };
    data.resize(rows * columns);
    in_all_forms([&] { bcast(world(), buffer(), root); }, [&] { return ibcast(world(), buffer(), root); },
                 [&] { return bcast_init(world(), buffer(), root); },
                 [&](int i) {
                   const auto values = matrix(world().rank(), i);
                   std::copy(values.begin(), values.end(), data.begin());
                 },
                 [&](int i, const char* what) {
                   const auto sent = matrix(root, i);
                   auto expected = matrix(world().rank(), i);
                   std::size_t k = 0;
                   for (std::size_t r = 1; r + 1 < rows; ++r)
                     for (std::size_t c = 1; c + 1 < columns; ++c, ++k)
                       expected[laid ? r * columns + c : k] = sent[r * columns + c];
                   EXPECT_EQ(data, expected) << what << " root " << root;
                 });
  }
}

/// A matrix with one column for each rank.
std::vector<double> wide(int rank, int iteration) { return matrix(rank, iteration, ranks()); }
/// All columns of such a matrix, one behind another.
Buffer columns_of(std::vector<double>& values) { return {values.data(), ranks(), column(ranks()).resized(1)}; }

TEST(LayoutsOfCollectives, GatherPutsBlocksIntoColumns) {
  const int root = world().size() - 1;
  std::vector<double> block(rows);
  std::vector<double> all(rows * ranks());
  for (const bool in_place_at_root : {false, true}) {
    const bool in_place_here = in_place_at_root && world().rank() == root;
    const auto send = [&]() -> ConstBuffer { return in_place_here ? ConstBuffer(in_place) : ConstBuffer(block); };
    const auto recv = [&] { return world().rank() == root ? columns_of(all) : Buffer(); };
    in_all_forms([&] { gather(world(), send(), recv(), root); }, [&] { return igather(world(), send(), recv(), root); },
                 [&] { return gather_init(world(), send(), recv(), root); },
                 [&](int i) {
                   const auto values = column_of(matrix(world().rank(), i), 3);
                   std::copy(values.begin(), values.end(), block.begin());
                   std::fill(all.begin(), all.end(), -1.0);
                   if (!in_place_here) return;
                   for (std::size_t r = 0; r < rows; ++r) all[r * ranks() + ranks() - 1] = block[r];
                 },
                 [&](int i, const char* what) {
                   if (world().rank() != root) return;
                   for (std::size_t r = 0; r < ranks(); ++r)
                     EXPECT_EQ(column_of(all, r, ranks()), column_of(matrix(static_cast<int>(r), i), 3)) << what;
                 });
  }
}

TEST(LayoutsOfCollectives, ScatterTakesColumnsApart) {
  std::vector<double> all(rows * ranks());
  std::vector<double> to(rows * columns);
  const auto send = [&]() -> ConstBuffer { return world().rank() == 0 ? columns_of(all) : Buffer(); };
  const auto recv = [&] { return Buffer(&to[3], column()); };
  in_all_forms([&] { scatter(world(), send(), recv(), 0); }, [&] { return iscatter(world(), send(), recv(), 0); },
               [&] { return scatter_init(world(), send(), recv(), 0); },
               [&](int i) {
                 const auto values = wide(world().rank(), i);
                 std::copy(values.begin(), values.end(), all.begin());
                 std::fill(to.begin(), to.end(), -1.0);
               },
               [&](int i, const char* what) {
                 const auto expected = column_of(wide(0, i), static_cast<std::size_t>(world().rank()), ranks());
                 EXPECT_EQ(column_of(to, 3), expected) << what;
                 EXPECT_EQ(to[2], -1.0) << what;
                 EXPECT_EQ(to[4], -1.0) << what;
               });
}

TEST(LayoutsOfCollectives, AllgatherOfColumnsIntoColumns) {
  std::vector<double> from(rows * columns);
  std::vector<double> all(rows * ranks());
  for (const bool is_in_place : {false, true}) {
    const auto send = [&]() -> ConstBuffer {
      return is_in_place ? ConstBuffer(in_place) : ConstBuffer(&from[1], column());
    };
    in_all_forms([&] { allgather(world(), send(), columns_of(all)); },
                 [&] { return iallgather(world(), send(), columns_of(all)); },
                 [&] { return allgather_init(world(), send(), columns_of(all)); },
                 [&](int i) {
                   const auto values = matrix(world().rank(), i);
                   std::copy(values.begin(), values.end(), from.begin());
                   std::fill(all.begin(), all.end(), -1.0);
                   const auto mine = column_of(values, 1);
                   if (!is_in_place) return;
                   for (std::size_t r = 0; r < rows; ++r)
                     all[r * ranks() + static_cast<std::size_t>(world().rank())] = mine[r];
                 },
                 [&](int i, const char* what) {
                   for (std::size_t r = 0; r < ranks(); ++r)
                     EXPECT_EQ(column_of(all, r, ranks()), column_of(matrix(static_cast<int>(r), i), 1)) << what;
                 });
  }
}

TEST(LayoutsOfCollectives, AlltoallTransposes) {
  std::vector<double> from(rows * ranks());
  std::vector<double> to(rows * ranks());
  for (const bool is_in_place : {false, true}) {
    const auto send = [&]() -> ConstBuffer {
      return is_in_place ? ConstBuffer(in_place) : ConstBuffer(columns_of(from));
    };
    const auto recv = [&] { return is_in_place ? columns_of(to) : Buffer(to); };
    in_all_forms(
        [&] { alltoall(world(), send(), recv()); }, [&] { return ialltoall(world(), send(), recv()); },
        [&] { return alltoall_init(world(), send(), recv()); },
        [&](int i) {
          const auto values = wide(world().rank(), i);
          std::copy(values.begin(), values.end(), from.begin());
          std::copy(values.begin(), values.end(), to.begin());
        },
        [&](int i, const char* what) {
          for (std::size_t r = 0; r < ranks(); ++r) {
            const auto block =
                column_of(wide(static_cast<int>(r), i), static_cast<std::size_t>(world().rank()), ranks());
            const auto begin = to.begin() + static_cast<std::ptrdiff_t>(r * rows);
            EXPECT_EQ(is_in_place ? column_of(to, r, ranks()) : std::vector<double>(begin, begin + rows), block)
                << what;
          }
        });
  }
}

/// The sum of the contributions of the first ranks to an element of a column.
double sum_of(std::size_t row, std::size_t column, int ranks, int iteration) {
  double sum = 0;
  for (int r = 0; r < ranks; ++r) sum += column_of(matrix(r, iteration), column)[row];
  return sum;
}

/// A reduction of column 1 into column 3 of another matrix, or of column 3 in place.
struct Reduction {
  const char* name;
  std::function<void(ConstBuffer, Buffer)> blocking;
  std::function<Request(ConstBuffer, Buffer)> nonblocking;
  std::function<Request(ConstBuffer, Buffer)> persistent;
  int ranks;     ///< whose contributions this rank's result has; 0: it gets none
  bool is_sent;  ///< this rank may not pass in_place
};

std::vector<Reduction> reductions() {
  const int rank = world().rank();
  const int root = world().size() - 1;
  const bool is_root = rank == root;
  const auto at_root = [is_root](const Buffer& recv) { return is_root ? recv : Buffer(); };
  return {
      {"allreduce", [](auto send, auto recv) { allreduce(world(), send, recv, sum); },
       [](auto send, auto recv) { return iallreduce(world(), send, recv, sum); },
       [](auto send, auto recv) { return allreduce_init(world(), send, recv, sum); }, world().size(), false},
      {"reduce", [=](auto send, auto recv) { reduce(world(), send, at_root(recv), sum, root); },
       [=](auto send, auto recv) { return ireduce(world(), send, at_root(recv), sum, root); },
       [=](auto send, auto recv) { return reduce_init(world(), send, at_root(recv), sum, root); },
       is_root ? world().size() : 0, !is_root},
      {"scan", [](auto send, auto recv) { scan(world(), send, recv, sum); },
       [](auto send, auto recv) { return iscan(world(), send, recv, sum); },
       [](auto send, auto recv) { return scan_init(world(), send, recv, sum); }, rank + 1, false},
      {"exscan", [](auto send, auto recv) { exscan(world(), send, recv, sum); },
       [](auto send, auto recv) { return iexscan(world(), send, recv, sum); },
       [](auto send, auto recv) { return exscan_init(world(), send, recv, sum); }, rank, false},
  };
}

TEST(LayoutsOfCollectives, ReductionsOfColumnsIntoColumns) {
  std::vector<double> from(rows * columns);
  std::vector<double> to(rows * columns);
  for (const Reduction& reduction : reductions())
    for (const bool is_in_place : {false, true}) {
      const bool sends = !is_in_place || reduction.is_sent;
      const auto send = [&]() -> ConstBuffer {
        return sends ? ConstBuffer(&from[1], column()) : ConstBuffer(in_place);
      };
      const auto recv = [&] { return Buffer(&to[3], column()); };
      in_all_forms([&] { reduction.blocking(send(), recv()); }, [&] { return reduction.nonblocking(send(), recv()); },
                   [&] { return reduction.persistent(send(), recv()); },
                   [&](int i) {
                     const auto values = matrix(world().rank(), i);
                     std::copy(values.begin(), values.end(), from.begin());
                     std::fill(to.begin(), to.end(), -1.0);
                     for (std::size_t r = 0; r < rows; ++r) to[r * columns + 3] = sends ? -2 : values[r * columns + 1];
                   },
                   [&](int i, const char* what) {
                     std::vector<double> expected(rows * columns, -1.0);
                     for (std::size_t r = 0; r < rows; ++r) {
                       const double before = sends ? -2 : from[r * columns + 1];
                       expected[r * columns + 3] = reduction.ranks == 0 ? before : sum_of(r, 1, reduction.ranks, i);
                     }
                     EXPECT_EQ(to, expected) << reduction.name << (is_in_place ? ", in place, " : ", ") << what;
                   });
    }
}

TEST(LayoutsOfCollectives, ReduceScatterBlockOfColumns) {
  std::vector<double> from(rows * ranks());
  std::vector<double> to(rows * columns);
  const auto recv = [&] { return Buffer(&to[3], column()); };
  in_all_forms([&] { reduce_scatter_block(world(), columns_of(from), recv(), sum); },
               [&] { return ireduce_scatter_block(world(), columns_of(from), recv(), sum); },
               [&] { return reduce_scatter_block_init(world(), columns_of(from), recv(), sum); },
               [&](int i) {
                 const auto values = wide(world().rank(), i);
                 std::copy(values.begin(), values.end(), from.begin());
                 std::fill(to.begin(), to.end(), -1.0);
               },
               [&](int i, const char* what) {
                 std::vector<double> expected(rows * columns, -1.0);
                 for (std::size_t r = 0; r < rows; ++r) {
                   expected[r * columns + 3] = 0;
                   for (int other = 0; other < world().size(); ++other)
                     expected[r * columns + 3] +=
                         column_of(wide(other, i), static_cast<std::size_t>(world().rank()), ranks())[r];
                 }
                 EXPECT_EQ(to, expected) << what;
               });
}

TEST(LayoutsOfCollectives, CallsWithCountsRefuseThem) {
  auto data = matrix(0, 0);
  const std::vector<std::size_t> counts(ranks(), rows);
  std::vector<double> all(rows * ranks());
  std::vector<std::size_t> places;
  for (std::size_t r = 0; r < ranks(); ++r) places.push_back(r * rows);
  const auto refuses = [](const Blocking& call, const char* argument) {
    try {
      call();
      ADD_FAILURE() << "accepted a layout as " << argument;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::invalid_argument);
      EXPECT_NE(std::string(e.what()).find(std::string("argument ") + argument + " has a layout"), std::string::npos)
          << e.what();
    }
  };
  const ConstBuffer laid(data.data(), column());
  refuses([&] { reduce_scatter(world(), Buffer(all), Buffer(data.data(), column()), counts, sum); }, "recv");
  refuses([&] { (void)iallgatherv(world(), laid, Buffer(all), counts, places); }, "send");
}

}  // namespace
}  // namespace tutti::test
