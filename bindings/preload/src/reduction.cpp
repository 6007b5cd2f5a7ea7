// SPDX-License-Identifier: BSD-3-Clause
#include "reduction.hpp"

#include <algorithm>
#include <limits>
#include <optional>

namespace tutti::preload {
namespace {

std::optional<ReduceOp> predefined(MPI_Op op) {
  constexpr std::size_t number = 12;
  static const MPI_Op handles[number] = {MPI_SUM,  MPI_PROD, MPI_MAX, MPI_MIN,  MPI_LAND,   MPI_LOR,
                                         MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_MINLOC, MPI_MAXLOC};
  static constexpr ReduceOp ours[number] = {sum, prod, max, min, land, lor, lxor, band, bor, bxor, minloc, maxloc};
  for (std::size_t i = 0; i < number; ++i)
    if (handles[i] == op) return ours[i];
  return std::nullopt;
}

/// The operations that MPI defines for a family of types (MPI 4.0, section 6.9.2).
bool is_allowed(ReduceKind kind, Family family) {
  using Kind = ReduceKind;
  switch (kind) {
    case Kind::sum:
    case Kind::prod:
      return family == Family::integer || family == Family::real || family == Family::complex;
    case Kind::min:
    case Kind::max:
      return family == Family::integer || family == Family::real;
    case Kind::land:
    case Kind::lor:
    case Kind::lxor:
      return family == Family::integer || family == Family::logical;
    case Kind::band:
    case Kind::bor:
    case Kind::bxor:
      return family == Family::integer || family == Family::byte;
    case Kind::minloc:
    case Kind::maxloc:
      return family == Family::pair;
    default:
      return false;
  }
}

bool is_unusable(MPI_Op op) { return op == MPI_OP_NULL || op == MPI_REPLACE || op == MPI_NO_OP; }

}  // namespace

bool OpHandle::is_own(MPI_Op op) { return !predefined(op); }

const char* op_name(MPI_Op op) {
  if (op == MPI_REPLACE) return "replace";
  const auto known = predefined(op);
  return known ? reduce_op_name(known->kind()) : "user's";
}

Reason Reduction::take(MPI_Datatype handle, const Type& type, MPI_Op op) {
  if (is_unusable(op)) return Reason::arguments;
  const auto known = predefined(op);
  const bool is_whole = (type.is_solid && type.size > 0) || type.family == Family::pair;
  if (!known) return is_whole ? take_local(handle, type, op) : Reason::reduction;
  if (!is_allowed(known->kind(), type.family)) return Reason::reduction;
  if (!type.element || !is_defined(known->kind(), type.element->kind())) return take_local(handle, type, op);
  op_ = *known;
  element_ = *type.element;
  return Reason::none;
}

Reason Reduction::take_local(MPI_Datatype handle, const Type& type, MPI_Op op) {
  int commutes = 0;
  if (PMPI_Op_commutative(op, &commutes) != MPI_SUCCESS) return Reason::arguments;
  local_.reset(new Local{HeldType(handle), HeldOp(op)});
  op_ = ReduceOp::user(combine, local_.get(), commutes != 0);
  element_ = Datatype::bytes(static_cast<std::size_t>(type.extent));
  return Reason::none;
}

void Reduction::hold() {
  if (!local_) return;
  local_->op.hold();
  local_->type.hold();
}

void Reduction::combine(const void* in, void* inout, std::size_t count, Datatype type, void* context) {
  const auto& local = *static_cast<const Local*>(context);
  constexpr auto most = static_cast<std::size_t>(std::numeric_limits<int>::max());
  for (std::size_t first = 0; first < count; first += most) {
    const std::size_t place = first * type.size();
    PMPI_Reduce_local(static_cast<const std::byte*>(in) + place, static_cast<std::byte*>(inout) + place,
                      static_cast<int>(std::min(most, count - first)), local.type.get(), local.op.get());
  }
}

ConstBuffer Reduction::input(const void* address, std::size_t count) const {
  if (address == MPI_IN_PLACE) return in_place;
  return {address, count, element_};
}
Buffer Reduction::output(void* address, std::size_t count) const { return {address, count, element_}; }

}  // namespace tutti::preload
