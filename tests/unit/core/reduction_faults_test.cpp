// SPDX-License-Identifier: BSD-3-Clause
#include "core/reduction_faults.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <type_traits>

#include "core/mpi_types.hpp"

namespace tutti::detail {
namespace {

constexpr ReduceKind ops[] = {ReduceKind::sum, ReduceKind::prod, ReduceKind::min,  ReduceKind::max, ReduceKind::land,
                              ReduceKind::lor, ReduceKind::lxor, ReduceKind::band, ReduceKind::bor, ReduceKind::bxor};
constexpr DatatypeKind integers[] = {DatatypeKind::int8,   DatatypeKind::int16, DatatypeKind::int32,
                                     DatatypeKind::int64,  DatatypeKind::uint8, DatatypeKind::uint16,
                                     DatatypeKind::uint32, DatatypeKind::uint64};

/// The defect that a stand-in for the host MPI has.
enum class Defect { none, signed_comparison, logical_bits, last_element, error, greater_index };
Defect defect = Defect::none;

template <typename T>
T combined(MPI_Op op, T a, T b) {
  using Compared = std::make_signed_t<T>;
  const bool less = defect == Defect::signed_comparison ? static_cast<Compared>(a) < static_cast<Compared>(b) : a < b;
  const auto x = static_cast<unsigned long long>(a);
  const auto y = static_cast<unsigned long long>(b);
  if (op == MPI_SUM) return static_cast<T>(x + y);
  if (op == MPI_PROD) return static_cast<T>(x * y);
  if (op == MPI_MIN) return less ? a : b;
  if (op == MPI_MAX) return less ? b : a;
  if (op == MPI_LAND) return static_cast<T>(defect == Defect::logical_bits ? x & y : (x != 0 && y != 0 ? 1 : 0));
  if (op == MPI_LOR) return static_cast<T>(x != 0 || y != 0 ? 1 : 0);
  if (op == MPI_LXOR) return static_cast<T>((x != 0) != (y != 0) ? 1 : 0);
  if (op == MPI_BAND) return static_cast<T>(x & y);
  if (op == MPI_BOR) return static_cast<T>(x | y);
  return static_cast<T>(x ^ y);
}

template <typename T>
void combine(const void* in, void* inout, int count, MPI_Op op) {
  if (defect == Defect::last_element) --count;
  for (int i = 0; i < count; ++i) {
    T a;
    T b;
    std::memcpy(&a, static_cast<const T*>(in) + i, sizeof a);
    std::memcpy(&b, static_cast<T*>(inout) + i, sizeof b);
    b = combined(op, a, b);
    std::memcpy(static_cast<T*>(inout) + i, &b, sizeof b);
  }
}

void combine_pairs(const void* in, void* inout, int count, MPI_Op op) {
  for (int i = 0; i < count; ++i) {
    const Int32Int32 a = static_cast<const Int32Int32*>(in)[i];
    Int32Int32& b = static_cast<Int32Int32*>(inout)[i];
    const bool wins = op == MPI_MINLOC ? a.value < b.value : a.value > b.value;
    const bool lower = defect == Defect::greater_index ? a.index > b.index : a.index < b.index;
    if (wins || (a.value == b.value && lower)) b = a;
  }
}

int reduce(const void* in, void* inout, int count, MPI_Datatype type, MPI_Op op) {
  if (defect == Defect::error) return MPI_ERR_OP;
  if (type == MPI_INT8_T) combine<std::int8_t>(in, inout, count, op);
  if (type == MPI_INT16_T) combine<std::int16_t>(in, inout, count, op);
  if (type == MPI_INT32_T) combine<std::int32_t>(in, inout, count, op);
  if (type == MPI_INT64_T) combine<std::int64_t>(in, inout, count, op);
  if (type == MPI_UINT8_T) combine<std::uint8_t>(in, inout, count, op);
  if (type == MPI_UINT16_T) combine<std::uint16_t>(in, inout, count, op);
  if (type == MPI_UINT32_T) combine<std::uint32_t>(in, inout, count, op);
  if (type == MPI_UINT64_T) combine<std::uint64_t>(in, inout, count, op);
  if (type == MPI_2INT) combine_pairs(in, inout, count, op);
  return MPI_SUCCESS;
}

ReductionFaults found_with(Defect planted) {
  defect = planted;
  return find_reduction_faults(reduce);
}

bool is_pair_wrong(const ReductionFaults& faults) {
  return faults.has(ReduceKind::minloc, DatatypeKind::int32_int32) ||
         faults.has(ReduceKind::maxloc, DatatypeKind::int32_int32);
}

/// Expects exactly the operations and types for which `wrong` is true.
template <typename Wrong>
void expect_faults(const ReductionFaults& faults, const Wrong& wrong) {
  for (const DatatypeKind type : integers)
    for (const ReduceKind op : ops)
      EXPECT_EQ(faults.has(op, type), wrong(op, type)) << reduce_op_name(op) << " of " << datatype_name(type);
}

TEST(ReductionFaults, ARightLibraryHasNone) {
  const ReductionFaults faults = found_with(Defect::none);
  expect_faults(faults, [](ReduceKind, DatatypeKind) { return false; });
  EXPECT_FALSE(is_pair_wrong(faults));
}

TEST(ReductionFaults, UnsignedIntegersComparedAsSigned) {
  expect_faults(found_with(Defect::signed_comparison), [](ReduceKind op, DatatypeKind type) {
    return (op == ReduceKind::min || op == ReduceKind::max) && type >= DatatypeKind::uint8;
  });
}

TEST(ReductionFaults, LogicalOperationsThatKeepBits) {
  expect_faults(found_with(Defect::logical_bits), [](ReduceKind op, DatatypeKind) { return op == ReduceKind::land; });
}

TEST(ReductionFaults, ARemainderThatIsForgotten) {
  const ReductionFaults faults = found_with(Defect::last_element);
  EXPECT_TRUE(faults.has(ReduceKind::sum, DatatypeKind::int32));
  EXPECT_TRUE(faults.has(ReduceKind::bxor, DatatypeKind::uint64));
}

TEST(ReductionFaults, EqualValuesWithTheGreaterIndex) {
  const ReductionFaults faults = found_with(Defect::greater_index);
  EXPECT_TRUE(faults.has(ReduceKind::minloc, DatatypeKind::int32_int32));
  EXPECT_TRUE(faults.has(ReduceKind::maxloc, DatatypeKind::int32_int32));
}

TEST(ReductionFaults, AnErrorIsAFault) {
  const ReductionFaults faults = found_with(Defect::error);
  expect_faults(faults, [](ReduceKind, DatatypeKind) { return true; });
  EXPECT_TRUE(is_pair_wrong(faults));
}

TEST(ReductionFaults, RanksUniteTheirs) {
  ReductionFaults mine;
  mine.add(ReduceKind::min, DatatypeKind::uint8);
  ReductionFaults other;
  other.add(ReduceKind::max, DatatypeKind::uint8);
  mine.add(other);
  EXPECT_TRUE(mine.has(ReduceKind::min, DatatypeKind::uint8));
  EXPECT_TRUE(mine.has(ReduceKind::max, DatatypeKind::uint8));
  EXPECT_FALSE(mine.has(ReduceKind::max, DatatypeKind::uint16));
}

}  // namespace
}  // namespace tutti::detail
