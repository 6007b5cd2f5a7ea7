// SPDX-License-Identifier: BSD-3-Clause
#include "reduction.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

namespace tutti::preload {
namespace {

/// Operations in use by outstanding calls, and whether the program has freed them.
struct Use {
  std::size_t calls = 0;
  bool is_freed = false;
};
struct Uses {
  std::mutex mutex;
  std::map<MPI_Op, Use> of;
};
Uses& uses() {
  static auto* all = new Uses;  // calls may end after the statics of this file
  return *all;
}

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

HeldOp::~HeldOp() {
  if (!is_held_) return;
  Uses& all = uses();
  const std::lock_guard lock(all.mutex);
  const auto found = all.of.find(handle_);
  if (--found->second.calls > 0) return;
  if (found->second.is_freed) PMPI_Op_free(&handle_);
  all.of.erase(found);
}
HeldOp::HeldOp(HeldOp&& other) noexcept : handle_(other.handle_), is_held_(std::exchange(other.is_held_, false)) {}
HeldOp& HeldOp::operator=(HeldOp&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(is_held_, other.is_held_);
  return *this;
}
void HeldOp::hold() {
  if (is_held_ || predefined(handle_)) return;
  Uses& all = uses();
  const std::lock_guard lock(all.mutex);
  ++all.of[handle_].calls;
  is_held_ = true;
}

int free_op(MPI_Op* handle) {
  if (handle != nullptr) {
    Uses& all = uses();
    const std::lock_guard lock(all.mutex);
    const auto found = all.of.find(*handle);
    if (found != all.of.end()) {
      found->second.is_freed = true;
      *handle = MPI_OP_NULL;
      return MPI_SUCCESS;
    }
  }
  return PMPI_Op_free(handle);
}

Reason Reduction::take(MPI_Datatype handle, const Type& type, MPI_Op op) {
  if (is_unusable(op)) return Reason::arguments;
  const auto known = predefined(op);
  if (!known) return type.is_solid || type.family == Family::pair ? take_local(handle, type, op) : Reason::reduction;
  if (!is_allowed(known->kind(), type.family)) return Reason::reduction;
  if (!type.element || !is_defined(known->kind(), type.element->kind())) return take_local(handle, type, op);
  op_ = *known;
  element_ = *type.element;
  return Reason::none;
}

Reason Reduction::take_local(MPI_Datatype handle, const Type& type, MPI_Op op) {
  int commutes = 0;
  if (PMPI_Op_commutative(op, &commutes) != MPI_SUCCESS) return Reason::arguments;
  local_.reset(new Local{HeldType(handle), HeldOp(op), type.is_derived});
  op_ = ReduceOp::user(combine, local_.get(), commutes != 0);
  element_ = Datatype::bytes(static_cast<std::size_t>(type.extent));
  return Reason::none;
}

void Reduction::hold() {
  if (!local_) return;
  local_->op.hold();
  if (local_->is_derived) local_->type.hold();
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
