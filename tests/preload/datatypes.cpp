// SPDX-License-Identifier: BSD-3-Clause
// Datatypes of all constructors, as the MPI itself moves them: those whose data are a grid are copied by the library.
#include <gtest/gtest.h>
#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "preload/world.hpp"

namespace tutti::test {
namespace {

class Datatypes : public testing::Test {
 protected:
  using Bytes = std::vector<std::uint8_t>;
  struct Named {
    std::string name;
    MPI_Datatype type;
  };
  static constexpr std::size_t room = 16384;  ///< of the elements of one block, which begin in its middle
  static constexpr std::uint8_t untouched = 0x5A;

  ~Datatypes() override {
    for (const Named& named : all) MPI_Type_free(const_cast<MPI_Datatype*>(&named.type));
  }
  MPI_Datatype add(std::string name, MPI_Datatype type) {
    MPI_Type_commit(&type);
    all.push_back({std::move(name), type});
    return type;
  }
  template <typename Constructor, typename... Arguments>
  MPI_Datatype make(std::string name, Constructor* constructor, Arguments... arguments) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    constructor(arguments..., &type);
    return add(std::move(name), type);
  }
  MPI_Datatype part(std::string name, int order, MPI_Datatype of, std::array<int, 3> sizes, std::array<int, 3> parts) {
    const std::array<int, 3> starts = {sizes[0] - parts[0], 0, (sizes[2] - parts[2]) / 2};
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_subarray(3, sizes.data(), parts.data(), starts.data(), order, of, &type);
    return add(std::move(name), type);
  }
  void make_grids() {
    for (const int length : {1, 2, 3, 4, 8, 16})
      make("vector of " + std::to_string(length), MPI_Type_vector, 4, length, length + 2, MPI_DOUBLE);
    make("bytes", MPI_Type_vector, 7, 3, 5, MPI_CHAR);
    make("words at odd distances", MPI_Type_create_hvector, 4, 2, MPI_Aint{21}, MPI_INT);
    make("backwards", MPI_Type_vector, 5, 1, -3, MPI_INT);
    make("backwards without gaps", MPI_Type_vector, 5, 1, -1, MPI_INT);
    const MPI_Datatype column = make("a column", MPI_Type_vector, 6, 1, 8, MPI_DOUBLE);
    make("columns", MPI_Type_create_resized, column, MPI_Aint{0}, MPI_Aint{8});
    make("columns from before", MPI_Type_create_resized, column, MPI_Aint{-8}, MPI_Aint{16});
    make("columns one behind another", MPI_Type_contiguous, 2, column);
    make("a copy", MPI_Type_dup, column);
    const MPI_Datatype box = part("a box", MPI_ORDER_C, MPI_INT, {4, 3, 8}, {2, 3, 4});
    part("a box of Fortran", MPI_ORDER_FORTRAN, MPI_INT, {8, 3, 4}, {4, 2, 3});
    part("a whole array", MPI_ORDER_C, MPI_INT, {4, 2, 3}, {4, 2, 3});
    make("boxes", MPI_Type_vector, 2, 1, 2, box);
    make("without gaps", MPI_Type_vector, 3, 4, 4, MPI_INT);
    make("bytes without gaps", MPI_Type_create_hvector, 3, 4, MPI_Aint{16}, MPI_INT);
  }
  void make_others() {
    const std::array<int, 3> lengths = {1, 3, 2};
    const std::array<int, 3> places = {9, 1, 5};
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_indexed(3, lengths.data(), places.data(), MPI_INT, &type);
    make("lists", MPI_Type_vector, 2, 2, 3, add("a list", type));
    MPI_Type_create_indexed_block(3, 2, places.data(), MPI_FLOAT, &type);
    add("blocks", type);
    const std::array<MPI_Aint, 3> bytes = {0, 8, 40};
    const std::array<MPI_Datatype, 3> members = {MPI_INT, MPI_DOUBLE, MPI_CHAR};
    MPI_Type_create_struct(3, lengths.data(), bytes.data(), members.data(), &type);
    make("records", MPI_Type_contiguous, 3, add("a record", type));
    make("pairs with gaps", MPI_Type_contiguous, 3, MPI_SHORT_INT);
    make("pairs", MPI_Type_vector, 3, 1, 2, MPI_DOUBLE_INT);
  }
  void make_large() {
#if MPI_VERSION >= 4
    make("a large vector", MPI_Type_vector_c, MPI_Count{3}, MPI_Count{2}, MPI_Count{5}, MPI_INT);
    make("a large vector of bytes", MPI_Type_create_hvector_c, MPI_Count{3}, MPI_Count{2}, MPI_Count{28}, MPI_INT);
    const std::array<MPI_Count, 2> sizes = {5, 6};
    const std::array<MPI_Count, 2> parts = {3, 2};
    const std::array<MPI_Count, 2> starts = {1, 3};
    for (const int order : {MPI_ORDER_C, MPI_ORDER_FORTRAN}) {
      MPI_Datatype type = MPI_DATATYPE_NULL;
      MPI_Type_create_subarray_c(2, sizes.data(), parts.data(), starts.data(), order, MPI_INT, &type);
      add("a large box", type);
    }
#endif
  }

  /// What rank `from` gives: all bytes differ from their neighbours, and those of ranks.
  static Bytes given(int from, std::size_t blocks) {
    Bytes bytes(blocks * room);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i * 7 + i / 251 + 101U * from);
    return bytes;
  }
  /// The MPI's own copy of a block.
  static void copy(const Bytes& from, std::size_t block, Bytes& to, std::size_t place, int count, MPI_Datatype type) {
    MPI_Sendrecv(&from[block * room + room / 2], count, type, 0, 0, &to[place * room + room / 2], count, type, 0, 0,
                 MPI_COMM_SELF, MPI_STATUS_IGNORE);
  }
  void expect_broadcast(int count, MPI_Datatype type) const {
    const Bytes source = given(0, 1);
    Bytes bytes = comm.rank() == 0 ? source : Bytes(room, untouched);
    Bytes expected = bytes;
    if (comm.rank() != 0) copy(source, 0, expected, 0, count, type);
    MPI_Bcast(&bytes[room / 2], count, type, 0, comm.get());
    EXPECT_EQ(bytes, expected);
  }
  void expect_exchanged(int count, MPI_Datatype type) const {
    const auto ranks = static_cast<std::size_t>(comm.size());
    Bytes bytes(ranks * room, untouched);
    Bytes expected = bytes;
    std::vector<int> places;
    for (int r = 0; r < comm.size(); ++r) {
      copy(given(r, ranks), static_cast<std::size_t>(comm.rank()), expected, static_cast<std::size_t>(r), count, type);
      places.push_back(r * static_cast<int>(room));
    }
    const std::vector<int> counts(ranks, count);
    const std::vector<MPI_Datatype> types(ranks, type);
    const Bytes source = given(comm.rank(), ranks);
    MPI_Alltoallw(&source[room / 2], counts.data(), places.data(), types.data(), &bytes[room / 2], counts.data(),
                  places.data(), types.data(), comm.get());
    EXPECT_EQ(bytes, expected);
  }

  std::vector<Named> all{};
  ReversedWorld comm{};
};

TEST_F(Datatypes, MoveAsByTheMpi) {
  make_grids();
  make_others();
  make_large();
  const std::uint64_t before = calls_through_library();
  for (const auto& [name, type] : all)
    for (const int count : {1, 3}) {
      SCOPED_TRACE(name + ", " + std::to_string(count));
      expect_broadcast(count, type);
      expect_exchanged(count, type);
    }
  EXPECT_EQ(calls_through_library(), before + 4 * all.size());
}

}  // namespace
}  // namespace tutti::test
