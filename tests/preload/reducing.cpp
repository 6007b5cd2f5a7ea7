// SPDX-License-Identifier: BSD-3-Clause
// Reductions, for programs that call MPI only: the library's own, and those that it makes by MPI_Reduce_local.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <tuple>
#include <vector>

#include "preload/arrays.hpp"
#include "preload/forms.hpp"
#include "preload/world.hpp"

namespace tutti::test {
namespace {

using Case = std::tuple<Form, int>;

class Reducing : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (form == Form::persistent && !TUTTI_TEST_HAS_PERSISTENT)
      GTEST_SKIP() << "this MPI has no persistent collectives";
  }
  Form form = std::get<0>(GetParam());
  int n = std::get<1>(GetParam());
  std::size_t elements = static_cast<std::size_t>(n);
  ReversedWorld comm{};
  std::vector<int> send = std::vector<int>(elements * static_cast<std::size_t>(comm.size()) + 1);
  std::vector<int> recv = send;

  void fill(std::vector<int>& data, int round) const {
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = value(comm.rank(), 0, i, round);
  }
  /// The sum over ranks first to last - 1.
  static int sum_of(int first, int last, std::size_t i, int round) {
    int sum = 0;
    for (int r = first; r < last; ++r) sum += value(r, 0, i, round);
    return sum;
  }
  void expect_sums(const std::vector<int>& data, std::size_t first, int last_rank, int round) const {
    for (std::size_t i = 0; i < elements; ++i)
      ASSERT_EQ(data[i], sum_of(0, last_rank, first + i, round)) << "element " << i;
  }
};

TEST_P(Reducing, Allreduce) {
  TUTTI_TEST_CALL(
      form, [&](int round) { fill(send, round); }, [&](int round) { expect_sums(recv, 0, comm.size(), round); },
      Allreduce, allreduce, send.data(), recv.data(), n, MPI_INT, MPI_SUM, comm.get());
}

TEST_P(Reducing, AllreduceInPlace) {
  TUTTI_TEST_CALL(
      form, [&](int round) { fill(recv, round); }, [&](int round) { expect_sums(recv, 0, comm.size(), round); },
      Allreduce, allreduce, MPI_IN_PLACE, recv.data(), n, MPI_INT, MPI_SUM, comm.get());
}

TEST_P(Reducing, Reduce) {
  for (int root = 0; root < comm.size(); ++root) {
    const bool is_root = comm.rank() == root;
    const void* from = is_root && root % 2 == 1 ? MPI_IN_PLACE : send.data();
    TUTTI_TEST_CALL(
        form,
        [&](int round) {
          fill(send, round);
          fill(recv, round);
        },
        [&](int round) {
          if (is_root) expect_sums(recv, 0, comm.size(), round);
        },
        Reduce, reduce, from, is_root ? recv.data() : nullptr, n, MPI_INT, MPI_SUM, root, comm.get());
  }
}

TEST_P(Reducing, Scan) {
  TUTTI_TEST_CALL(
      form, [&](int round) { fill(send, round); }, [&](int round) { expect_sums(recv, 0, comm.rank() + 1, round); },
      Scan, scan, send.data(), recv.data(), n, MPI_INT, MPI_SUM, comm.get());
}

TEST_P(Reducing, Exscan) {
  TUTTI_TEST_CALL(
      form, [&](int round) { fill(send, round); },
      [&](int round) {
        if (comm.rank() > 0) expect_sums(recv, 0, comm.rank(), round);
      },
      Exscan, exscan, send.data(), recv.data(), n, MPI_INT, MPI_SUM, comm.get());
}

/// Memory of whole pages that may be read alone.
class ReadOnly {
 public:
  explicit ReadOnly(std::size_t bytes) : bytes_(bytes) {
    data_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
  ~ReadOnly() { munmap(data_, bytes_); }
  ReadOnly(const ReadOnly&) = delete;
  ReadOnly& operator=(const ReadOnly&) = delete;
  [[nodiscard]] int* get() const { return static_cast<int*>(data_); }
  void fill(const std::vector<int>& values) {
    mprotect(data_, bytes_, PROT_READ | PROT_WRITE);
    std::copy(values.begin(), values.end(), get());
    mprotect(data_, bytes_, PROT_READ);
  }

 private:
  std::size_t bytes_;
  void* data_;
};

/// An operation that does not commute: of two operands the one of the lower rank.
void keep_first(void* in, void* inout, int* count, MPI_Datatype* /*type*/) {
  std::copy_n(static_cast<const int*>(in), *count, static_cast<int*>(inout));
}

/// The receive buffer of rank 0 does not count: none, or the send buffer.
TEST_P(Reducing, ExscanWithoutAReceiveBufferOnRank0) {
  ReadOnly mine(send.size() * sizeof(int));
  MPI_Op first = MPI_OP_NULL;
  MPI_Op_create(keep_first, 0, &first);
  for (void* const other : {static_cast<void*>(nullptr), static_cast<void*>(mine.get())}) {
    void* const to = comm.rank() == 0 ? other : recv.data();
    const auto prepare = [&](int round) {
      fill(send, round);
      mine.fill(send);
    };
    TUTTI_TEST_CALL(
        form, prepare,
        [&](int round) {
          if (comm.rank() > 0) expect_sums(recv, 0, comm.rank(), round);
        },
        Exscan, exscan, mine.get(), to, n, MPI_INT, MPI_SUM, comm.get());
    TUTTI_TEST_CALL(
        form, prepare,
        [&](int round) {
          for (std::size_t i = 0; comm.rank() > 0 && i < elements; ++i) ASSERT_EQ(recv[i], value(0, 0, i, round));
        },
        Exscan, exscan, mine.get(), to, n, MPI_INT, first, comm.get());
  }
  MPI_Op_free(&first);
}

/// A rank that receives nothing may name any receive buffer.
TEST_P(Reducing, ReduceScatterToSome) {
  std::vector<int> counts(static_cast<std::size_t>(comm.size()), 0);
  counts[0] = n;
  TUTTI_TEST_CALL(
      form, [&](int round) { fill(send, round); },
      [&](int round) {
        if (comm.rank() == 0) expect_sums(recv, 0, comm.size(), round);
      },
      Reduce_scatter, reduce_scatter, send.data(), comm.rank() == 0 ? recv.data() : send.data(), counts.data(), MPI_INT,
      MPI_SUM, comm.get());
}

#if TUTTI_TEST_HAS_PERSISTENT
/// The elements of all ranks are more than an int counts. The memory is there only by name.
TEST_P(Reducing, ReduceScatterBlockOfManyElements) {
  if (form != Form::persistent || n != 1) GTEST_SKIP() << "of one form";
  const int count = std::numeric_limits<int>::max() / comm.size() + 1;
  const std::size_t bytes = static_cast<std::size_t>(count) * static_cast<std::size_t>(comm.size());
  void* const memory = mmap(nullptr, 2 * bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  const std::uint64_t before = calls_through_library();
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Reduce_scatter_block_init(memory, static_cast<std::byte*>(memory) + bytes, count, MPI_SIGNED_CHAR, MPI_SUM,
                                comm.get(), MPI_INFO_NULL, &request);
  EXPECT_EQ(calls_through_library() - before, comm.size() > 1 ? 1U : 0U);
  MPI_Request_free(&request);
  munmap(memory, 2 * bytes);
}
#endif

TEST_P(Reducing, ReduceScatterBlock) {
  const auto first = static_cast<std::size_t>(comm.rank()) * elements;
  TUTTI_TEST_CALL(
      form, [&](int round) { fill(send, round); }, [&](int round) { expect_sums(recv, first, comm.size(), round); },
      Reduce_scatter_block, reduce_scatter_block, send.data(), recv.data(), n, MPI_INT, MPI_SUM, comm.get());
}

TEST_P(Reducing, ReduceScatter) {
  const std::vector<int> counts(static_cast<std::size_t>(comm.size()), n);
  const auto first = static_cast<std::size_t>(comm.rank()) * elements;
  TUTTI_TEST_CALL(
      form, [&](int round) { fill(recv, round); }, [&](int round) { expect_sums(recv, first, comm.size(), round); },
      Reduce_scatter, reduce_scatter, MPI_IN_PLACE, recv.data(), counts.data(), MPI_INT, MPI_SUM, comm.get());
}

/// Affine maps x -> a x + b of integers modulo 2^32: an associative operation that does not commute.
using Map = std::array<unsigned, 2>;
void compose(void* in, void* inout, int* count, MPI_Datatype* /*type*/) {
  const auto* inner = static_cast<const Map*>(in);
  auto* outer = static_cast<Map*>(inout);
  for (int i = 0; i < *count; ++i) outer[i] = {outer[i][0] * inner[i][0], outer[i][0] * inner[i][1] + outer[i][1]};
}
Map map_of(int rank, std::size_t i) {
  return {static_cast<unsigned>(rank) * 2U + 3U, static_cast<unsigned>(rank * 7) + static_cast<unsigned>(i)};
}

TEST_P(Reducing, OperationsOfUsersOnTheirTypes) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_UNSIGNED, &type);
  MPI_Type_commit(&type);
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(compose, 0, &op);
  std::vector<Map> mine(elements + 1);
  std::vector<Map> result(elements + 1);
  for (std::size_t i = 0; i < elements; ++i) mine[i] = map_of(comm.rank(), i);
  TUTTI_TEST_CALL(
      form, [](int) {},
      [&](int round) {
        if (round == 0 && form == Form::persistent) {  // both are in use until the request is freed
          MPI_Op_free(&op);
          MPI_Type_free(&type);
        }
        for (std::size_t i = 0; i < elements; ++i) {
          Map expected = map_of(0, i);
          int one = 1;
          for (int r = 1; r < comm.size(); ++r) {
            Map next = map_of(r, i);
            compose(&expected, &next, &one, nullptr);
            expected = next;
          }
          ASSERT_EQ(result[i], expected) << "element " << i;
        }
      },
      Allreduce, allreduce, mine.data(), result.data(), n, type, op, comm.get());
  if (op != MPI_OP_NULL) MPI_Op_free(&op);
  if (type != MPI_DATATYPE_NULL) MPI_Type_free(&type);
  EXPECT_EQ(op, MPI_OP_NULL);
}

/// What an operation finds at the datatype that it gets.
struct Found {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  int keyval = MPI_KEYVAL_INVALID;
  int strangers = 0;
  int copies = 0;
  int deletions = 0;
};
Found found;
void add_pairs(void* in, void* inout, int* count, MPI_Datatype* type) {
  void* value = nullptr;
  int has_value = 0;
  MPI_Type_get_attr(*type, found.keyval, static_cast<void*>(&value), &has_value);
  if (*type != found.type || has_value == 0 || value != &found) ++found.strangers;
  for (int i = 0; i < 2 * *count; ++i) static_cast<unsigned*>(inout)[i] += static_cast<unsigned*>(in)[i];
}
int copy_attribute(MPI_Datatype, int, void*, void*, void*, int* flag) {
  ++found.copies;
  *flag = 0;
  return MPI_SUCCESS;
}
int delete_attribute(MPI_Datatype, int, void*, void*) {
  ++found.deletions;
  return MPI_SUCCESS;
}

/// Its handle, with its attributes, though the program may have freed it already.
TEST_P(Reducing, OperationsOfUsersGetTheProgramsType) {
  found = {};
  MPI_Type_create_keyval(copy_attribute, delete_attribute, &found.keyval, nullptr);
  MPI_Type_contiguous(2, MPI_UNSIGNED, &found.type);
  MPI_Type_commit(&found.type);
  MPI_Type_set_attr(found.type, found.keyval, &found);
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(add_pairs, 1, &op);
  std::vector<unsigned> mine(2 * elements + 1, 1);
  std::vector<unsigned> sums(2 * elements + 1);
  MPI_Datatype handle = found.type;
  const auto free_both = [&] {
    if (op != MPI_OP_NULL) MPI_Op_free(&op);
    if (handle != MPI_DATATYPE_NULL) MPI_Type_free(&handle);
  };
  make_call(
      form, [](int) {}, [&] { MPI_Allreduce(mine.data(), sums.data(), n, found.type, op, comm.get()); },
      [&](MPI_Request* request) {
        if (handle == MPI_DATATYPE_NULL) return;
        MPI_Iallreduce(mine.data(), sums.data(), n, found.type, op, comm.get(), request);
        free_both();
      },
      [&](MPI_Request* request) {
        TUTTI_TEST_INIT(Allreduce, mine.data(), sums.data(), n, found.type, op, comm.get());
        free_both();
      },
      [&](int) {
        for (std::size_t i = 0; i < 2 * elements; ++i) ASSERT_EQ(sums[i], static_cast<unsigned>(comm.size()));
      });
  free_both();
  EXPECT_EQ(found.strangers, 0);
  EXPECT_EQ(found.copies, 0);
  EXPECT_EQ(found.deletions, 1);
  MPI_Type_free_keyval(&found.keyval);
}

void do_nothing(void* /*in*/, void* /*inout*/, int* /*count*/, MPI_Datatype* /*type*/) {}

TEST_P(Reducing, OperationsOfUsersOnTypesWithoutData) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(0, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(do_nothing, 1, &op);
  recv.assign(recv.size(), 7);
  TUTTI_TEST_CALL(
      form, [](int) {}, [&](int) { EXPECT_EQ(recv.back(), 7); }, Allreduce, allreduce, send.data(), recv.data(), n,
      type, op, comm.get());
  MPI_Op_free(&op);
  MPI_Type_free(&type);
}

template <typename T>
struct Pair {
  T value;
  int index;
};

TEST_P(Reducing, TypesThatTheLibraryLacks) {
  std::vector<long double> numbers(elements + 1);
  std::vector<long double> sums(elements + 1);
  std::vector<Pair<short>> pairs(elements + 1);
  std::vector<Pair<short>> greatest(elements + 1);
  for (std::size_t i = 0; i < elements; ++i) {
    numbers[i] = static_cast<long double>(comm.rank() + 1) + static_cast<long double>(i) / 4;
    pairs[i] = {static_cast<short>((comm.rank() + static_cast<int>(i)) % comm.size()), comm.rank()};
  }
  TUTTI_TEST_CALL(
      form, [](int) {},
      [&](int) {
        const long double ranks = comm.size();
        for (std::size_t i = 0; i < elements; ++i)
          ASSERT_EQ(sums[i], ranks * (ranks + 1) / 2 + ranks * static_cast<long double>(i) / 4);
      },
      Allreduce, allreduce, numbers.data(), sums.data(), n, MPI_LONG_DOUBLE, MPI_SUM, comm.get());
  TUTTI_TEST_CALL(
      form, [](int) {},
      [&](int) {
        for (std::size_t i = 0; i < elements; ++i) {
          ASSERT_EQ(greatest[i].value, comm.size() - 1);
          ASSERT_EQ((greatest[i].index + static_cast<int>(i)) % comm.size(), comm.size() - 1);
        }
      },
      Allreduce, allreduce, pairs.data(), greatest.data(), n, MPI_SHORT_INT, MPI_MAXLOC, comm.get());
}

TEST_P(Reducing, Logicals) {
  std::vector<char> flags(elements + 1);
  std::vector<char> all(elements + 1);
  for (std::size_t i = 0; i < elements; ++i) flags[i] = static_cast<int>(i) % comm.size() != comm.rank() ? 1 : 0;
  TUTTI_TEST_CALL(
      form, [](int) {},
      [&](int) {
        for (std::size_t i = 0; i < elements; ++i) ASSERT_EQ(all[i], 0);
      },
      Allreduce, allreduce, flags.data(), all.data(), n, MPI_C_BOOL, MPI_LAND, comm.get());
  TUTTI_TEST_CALL(
      form, [](int) {},
      [&](int) {
        for (std::size_t i = 0; i < elements; ++i) ASSERT_EQ(all[i], comm.size() > 1 ? 1 : 0);
      },
      Allreduce, allreduce, flags.data(), all.data(), n, MPI_C_BOOL, MPI_LOR, comm.get());
}

TEST_P(Reducing, AllOfItWentThroughTheLibrary) {
  const std::uint64_t before = calls_through_library();
  int one = 1;
  int sum = 0;
  long double other = 1;
  long double others = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm.get());
  MPI_Allreduce(&other, &others, 1, MPI_LONG_DOUBLE, MPI_PROD, comm.get());
  EXPECT_EQ(sum, comm.size());
  EXPECT_EQ(others, 1);
  EXPECT_EQ(calls_through_library() - before, comm.size() > 1 ? 2U : 0U);
}

INSTANTIATE_TEST_SUITE_P(Forms, Reducing,
                         testing::Combine(testing::Values(Form::blocking, Form::nonblocking, Form::persistent),
                                          testing::Values(0, 1, 17, 20000)));

}  // namespace
}  // namespace tutti::test
