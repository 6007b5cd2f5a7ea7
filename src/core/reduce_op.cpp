// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <cstddef>
#include <cstdint>
#include <tutti/reduce_op.hpp>

namespace tutti {

namespace {

enum class Family { integer, floating, complex, pair, logical, opaque, none };

constexpr Family family_of(DatatypeKind type) {
  const auto number = static_cast<unsigned>(type);
  if (number >= static_cast<unsigned>(DatatypeKind::int8) && type <= DatatypeKind::uint64) return Family::integer;
  if (type >= DatatypeKind::float8_e4m3 && type <= DatatypeKind::float64) return Family::floating;
  if (type == DatatypeKind::complex64 || type == DatatypeKind::complex128) return Family::complex;
  if (type >= DatatypeKind::float32_int32 && type <= DatatypeKind::float64_float64) return Family::pair;
  if (type >= DatatypeKind::logical8 && type <= DatatypeKind::logical64) return Family::logical;
  return type == DatatypeKind::bytes ? Family::opaque : Family::none;
}

constexpr bool suits(ReduceKind kind, DatatypeKind type) {
  const Family family = family_of(type);
  switch (kind) {
    case ReduceKind::sum:
    case ReduceKind::prod:
    case ReduceKind::avg:
      return family == Family::integer || family == Family::floating || family == Family::complex;
    case ReduceKind::min:
    case ReduceKind::max:
      return family == Family::integer || family == Family::floating;
    case ReduceKind::premul_sum:
      return family == Family::floating || family == Family::complex;
    case ReduceKind::land:
    case ReduceKind::lor:
    case ReduceKind::lxor:
      return family == Family::integer || family == Family::logical;
    case ReduceKind::band:
    case ReduceKind::bor:
    case ReduceKind::bxor:
      return family == Family::integer;
    case ReduceKind::minloc:
    case ReduceKind::maxloc:
      return family == Family::pair;
    case ReduceKind::user:
      return family != Family::none;
  }
  return false;
}

/// For each operation, the set of its datatypes as bits.
constexpr auto defined_types = [] {
  std::array<std::uint32_t, static_cast<std::size_t>(ReduceKind::user) + 1> table{};
  for (std::size_t kind = 0; kind < table.size(); ++kind)
    for (unsigned type = 0; type < 32; ++type)
      if (suits(static_cast<ReduceKind>(kind), static_cast<DatatypeKind>(type))) table[kind] |= 1U << type;
  return table;
}();

}  // namespace

const char* reduce_op_name(ReduceKind kind) noexcept {
  switch (kind) {
#define TUTTI_NAME(name) \
  case ReduceKind::name: \
    return #name;
    TUTTI_NAME(sum)
    TUTTI_NAME(prod)
    TUTTI_NAME(min)
    TUTTI_NAME(max)
    TUTTI_NAME(avg)
    TUTTI_NAME(premul_sum)
    TUTTI_NAME(land)
    TUTTI_NAME(lor)
    TUTTI_NAME(lxor)
    TUTTI_NAME(band)
    TUTTI_NAME(bor)
    TUTTI_NAME(bxor)
    TUTTI_NAME(minloc)
    TUTTI_NAME(maxloc)
    TUTTI_NAME(user)
#undef TUTTI_NAME
  }
  return "unknown operation";
}

bool is_defined(ReduceKind kind, DatatypeKind type) noexcept {
  const auto row = static_cast<std::size_t>(kind);
  const auto bit = static_cast<unsigned>(type);
  return row < defined_types.size() && bit < 32 && (defined_types[row] >> bit & 1U) != 0;
}

}  // namespace tutti
