// SPDX-License-Identifier: BSD-3-Clause
#include "core/reduction_faults.hpp"

#include <initializer_list>
#include <iterator>
#include <limits>
#include <type_traits>

#include "core/mpi_types.hpp"

namespace tutti::detail {
namespace {

/// More elements than a vector register holds, with a remainder: MPI libraries have other code for these.
constexpr std::size_t length = 132;

/// A telling value: small ones, and ones with the top bit set.
template <typename T>
T telling(std::size_t index) {
  using Bits = std::make_unsigned_t<T>;
  constexpr Bits top = static_cast<Bits>(Bits{1} << (std::numeric_limits<Bits>::digits - 1));
  constexpr Bits values[] = {5, top, static_cast<Bits>(top | 5U), static_cast<Bits>(~Bits{0}), 0, 1, 7};
  return static_cast<T>(values[index % std::size(values)]);
}

template <typename T>
T expected(ReduceKind op, T a, T b) {
  const auto x = static_cast<std::uint64_t>(a);
  const auto y = static_cast<std::uint64_t>(b);
  switch (op) {
    case ReduceKind::sum:
      return static_cast<T>(x + y);
    case ReduceKind::prod:
      return static_cast<T>(x * y);
    case ReduceKind::min:
      return b < a ? b : a;
    case ReduceKind::max:
      return a < b ? b : a;
    case ReduceKind::land:
      return static_cast<T>(a != 0 && b != 0);
    case ReduceKind::lor:
      return static_cast<T>(a != 0 || b != 0);
    case ReduceKind::lxor:
      return static_cast<T>((a != 0) != (b != 0));
    case ReduceKind::band:
      return static_cast<T>(x & y);
    case ReduceKind::bor:
      return static_cast<T>(x | y);
    default:
      return static_cast<T>(x ^ y);
  }
}

Int32Int32 expected(ReduceKind op, Int32Int32 a, Int32Int32 b) {
  if (a.value == b.value) return {a.value, a.index < b.index ? a.index : b.index};
  return (a.value < b.value) == (op == ReduceKind::minloc) ? a : b;
}

template <typename T>
T element(std::size_t index) {
  if constexpr (std::is_same_v<T, Int32Int32>)
    return {telling<std::int32_t>(index), static_cast<std::int32_t>(index % 11)};
  else
    return telling<T>(index);
}

template <typename T>
bool is_right(ReduceLocal reduce, ReduceKind op) {
  std::array<T, length> in{};
  std::array<T, length> inout{};
  for (std::size_t i = 0; i < length; ++i) {
    in[i] = element<T>(i);
    inout[i] = element<T>(i / 7 + 3);
  }
  const std::array<T, length> before = inout;
  const int rc =
      reduce(in.data(), inout.data(), static_cast<int>(length), mpi_datatype(datatype_of<T>().kind()), mpi_op(op));
  if (rc != MPI_SUCCESS) return false;
  for (std::size_t i = 0; i < length; ++i)
    if (inout[i] != expected(op, in[i], before[i])) return false;
  return true;
}

template <typename T>
void try_ops(ReduceLocal reduce, ReductionFaults& faults, std::initializer_list<ReduceKind> ops) {
  for (const ReduceKind op : ops)
    if (!is_right<T>(reduce, op)) faults.add(op, datatype_of<T>().kind());
}

template <typename... Integers>
void try_integers(ReduceLocal reduce, ReductionFaults& faults) {
  (try_ops<Integers>(reduce, faults,
                     {ReduceKind::sum, ReduceKind::prod, ReduceKind::min, ReduceKind::max, ReduceKind::land,
                      ReduceKind::lor, ReduceKind::lxor, ReduceKind::band, ReduceKind::bor, ReduceKind::bxor}),
   ...);
}

}  // namespace

ReductionFaults find_reduction_faults(ReduceLocal reduce) {
  ReductionFaults faults;
  try_integers<std::int8_t, std::int16_t, std::int32_t, std::int64_t>(reduce, faults);
  try_integers<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>(reduce, faults);
  try_ops<Int32Int32>(reduce, faults, {ReduceKind::minloc, ReduceKind::maxloc});
  return faults;
}

const ReductionFaults& own_reduction_faults() {
  static const ReductionFaults faults = find_reduction_faults(
      // Called, not named: a process that has no MPI, too, can load a library that only calls.
      [](const void* in, void* inout, int count, MPI_Datatype type, MPI_Op op) {
        return MPI_Reduce_local(in, inout, count, type, op);
      });
  return faults;
}

}  // namespace tutti::detail
