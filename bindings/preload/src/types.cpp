// SPDX-License-Identifier: BSD-3-Clause
#include "types.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <tutti/error.hpp>
#include <tutti/mpi.hpp>
#include <type_traits>
#include <vector>

#include "held.hpp"

namespace tutti::preload {
namespace {

/// MPICH reduces MPI_CHAR, which MPI does not define, as its compiler's char.
#ifdef MPICH_VERSION
constexpr bool reduces_char = std::is_signed_v<char>;
#else
constexpr bool reduces_char = false;
#endif

/// An MPI's handles that it lacks are MPI_DATATYPE_NULL.
std::vector<MPI_Datatype> handles_of(Family family) {
  switch (family) {
    case Family::integer:
      return {reduces_char ? MPI_CHAR : MPI_DATATYPE_NULL,
              MPI_SIGNED_CHAR,
              MPI_UNSIGNED_CHAR,
              MPI_SHORT,
              MPI_UNSIGNED_SHORT,
              MPI_INT,
              MPI_UNSIGNED,
              MPI_LONG,
              MPI_UNSIGNED_LONG,
              MPI_LONG_LONG,
              MPI_UNSIGNED_LONG_LONG,
              MPI_INT8_T,
              MPI_INT16_T,
              MPI_INT32_T,
              MPI_INT64_T,
              MPI_UINT8_T,
              MPI_UINT16_T,
              MPI_UINT32_T,
              MPI_UINT64_T,
              MPI_INTEGER,
              MPI_INTEGER1,
              MPI_INTEGER2,
              MPI_INTEGER4,
              MPI_INTEGER8,
              MPI_AINT,
              MPI_OFFSET,
              MPI_COUNT};
    case Family::real:
      return {MPI_FLOAT, MPI_DOUBLE, MPI_LONG_DOUBLE, MPI_REAL, MPI_DOUBLE_PRECISION, MPI_REAL4, MPI_REAL8, MPI_REAL16};
    case Family::complex:
      return {MPI_C_FLOAT_COMPLEX,
              MPI_C_DOUBLE_COMPLEX,
              MPI_C_LONG_DOUBLE_COMPLEX,
              MPI_COMPLEX,
              MPI_DOUBLE_COMPLEX,
              MPI_COMPLEX8,
              MPI_COMPLEX16,
              MPI_COMPLEX32,
#ifdef MPI_CXX_FLOAT_COMPLEX
              MPI_CXX_FLOAT_COMPLEX,
              MPI_CXX_DOUBLE_COMPLEX,
              MPI_CXX_LONG_DOUBLE_COMPLEX
#endif
      };
    case Family::logical:
      return {MPI_C_BOOL, MPI_LOGICAL,
#ifdef MPI_CXX_BOOL
              MPI_CXX_BOOL
#endif
      };
    case Family::byte:
      return {MPI_BYTE};
    case Family::pair:
      return {MPI_FLOAT_INT, MPI_DOUBLE_INT, MPI_LONG_INT,         MPI_2INT, MPI_SHORT_INT, MPI_LONG_DOUBLE_INT,
              MPI_2REAL,     MPI_2INTEGER,   MPI_2DOUBLE_PRECISION};
    case Family::none:
      return {reduces_char ? MPI_DATATYPE_NULL : MPI_CHAR, MPI_CHARACTER, MPI_WCHAR, MPI_PACKED};
  }
  return {};
}

std::optional<Datatype> element_of(MPI_Datatype handle, Family family) {
  if (family == Family::none) return std::nullopt;
  try {
    return datatype_from(handle);
  } catch (const Error&) {
    return std::nullopt;
  }
}

Type look_at(MPI_Datatype handle, Family family) {
  const auto places = places_of(handle);
  if (!places) return {};
  Type type;
  type.size = static_cast<std::size_t>(places->size);
  type.extent = static_cast<std::ptrdiff_t>(places->extent);
  type.grid = grid_of(handle, *places);
  type.is_solid = places->is_solid();
  type.is_dense = type.is_solid && (type.size == 0 || (type.grid && type.grid->is_contiguous()));
  type.family = family;
  type.element = element_of(handle, family);
  return type;
}

/// Predefined types by their handles, with open addressing.
class Predefined {
 public:
  Predefined() {
    constexpr std::array families = {Family::none,    Family::integer, Family::real, Family::complex,
                                     Family::logical, Family::byte,    Family::pair};
    for (const Family family : families)
      for (const MPI_Datatype handle : handles_of(family))
        if (handle != MPI_DATATYPE_NULL && find(handle) == nullptr) add(handle, look_at(handle, family));
  }
  [[nodiscard]] const Type* find(MPI_Datatype handle) const {
    for (std::size_t at = slot_of(handle);; at = (at + 1) % slots_.size()) {
      if (slots_[at].handle == handle) return &slots_[at].type;
      if (slots_[at].handle == MPI_DATATYPE_NULL) return nullptr;
    }
  }

 private:
  struct Slot {
    MPI_Datatype handle = MPI_DATATYPE_NULL;
    Type type{};
  };
  static std::size_t slot_of(MPI_Datatype handle) {
    const std::size_t bits = std::hash<MPI_Datatype>()(handle);
    return bits * 0x9E3779B97F4A7C15ULL >> (64U - 9U);
  }
  void add(MPI_Datatype handle, const Type& type) {
    std::size_t at = slot_of(handle);
    while (slots_[at].handle != MPI_DATATYPE_NULL) at = (at + 1) % slots_.size();
    slots_[at] = {handle, type};
  }
  std::vector<Slot> slots_{512};
};

/// The derived type that this thread has asked for last.
struct LastType {
  MPI_Datatype handle{};
  const Type* type = nullptr;
  unsigned ended = 0;  ///< number of types that had ended then
};
thread_local constinit LastType last_type{};
std::atomic<unsigned> ended_types{0};

int forget_type(MPI_Datatype /*handle*/, int /*keyval*/, void* value, void* /*extra*/) {
  const std::unique_ptr<Type> ended(static_cast<Type*>(value));
  ended_types.fetch_add(1, std::memory_order_release);
  return MPI_SUCCESS;
}

int type_keyval() {
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    PMPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, forget_type, &made, nullptr);
    return made;
  }();
  return key;
}

/// The facts of a derived type hang at its handle, so that they end with it.
const Type* facts_at(MPI_Datatype handle) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  void* value = nullptr;
  int found = 0;
  if (PMPI_Type_get_attr(handle, type_keyval(), static_cast<void*>(&value), &found) != MPI_SUCCESS) return nullptr;
  if (found != 0) return static_cast<const Type*>(value);
  auto type = std::make_unique<Type>(look_at(handle, Family::none));
  type->is_derived = true;
  if (PMPI_Type_set_attr(handle, type_keyval(), type.get()) != MPI_SUCCESS) return nullptr;
  return type.release();
}

const Type* derived(MPI_Datatype handle) {
  const unsigned ended = ended_types.load(std::memory_order_acquire);
  LastType& last = last_type;
  if (last.type == nullptr || last.handle != handle || last.ended != ended) last = {handle, facts_at(handle), ended};
  return last.type;
}

}  // namespace

const Type* type_of(MPI_Datatype handle) {
  if (handle == MPI_DATATYPE_NULL) return nullptr;
  static const Predefined predefined;
  const Type* type = predefined.find(handle);
  return type != nullptr ? type : derived(handle);
}

bool TypeHandle::is_own(MPI_Datatype handle) {
  const Type* type = type_of(handle);
  return type != nullptr && type->is_derived;
}

const Type* type_beside(MPI_Datatype handle, MPI_Count count) {
  static const Type empty = [] {
    Type type;
    type.is_dense = true;
    return type;
  }();
  return count == 0 ? &empty : type_of(handle);
}

}  // namespace tutti::preload
