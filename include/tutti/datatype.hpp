// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <tutti/detail/export.hpp>
#include <tutti/float_types.hpp>
#include <type_traits>

namespace tutti {

/// The element types. The numbers are those of the C and Fortran constants.
enum class DatatypeKind : std::uint8_t {
  int8 = 1,
  int16 = 2,
  int32 = 3,
  int64 = 4,
  uint8 = 5,
  uint16 = 6,
  uint32 = 7,
  uint64 = 8,
  float8_e4m3 = 9,
  float8_e5m2 = 10,
  float16 = 11,
  bfloat16 = 12,
  float32 = 13,
  float64 = 14,
  complex64 = 15,        ///< two float32
  complex128 = 16,       ///< two float64
  float32_int32 = 17,    ///< value-index pair, layout of MPI_FLOAT_INT
  float64_int32 = 18,    ///< value-index pair, layout of MPI_DOUBLE_INT (16 bytes)
  int32_int32 = 19,      ///< value-index pair, layout of MPI_2INT and MPI_2INTEGER
  int64_int32 = 20,      ///< value-index pair, layout of MPI_LONG_INT (16 bytes)
  int64_int64 = 21,      ///< value-index pair
  float64_int64 = 22,    ///< value-index pair
  float32_float32 = 23,  ///< value-index pair of Fortran, MPI_2REAL
  float64_float64 = 24,  ///< value-index pair of Fortran, MPI_2DOUBLE_PRECISION
  logical8 = 25,         ///< bool, or Fortran logical of 1 byte; zero is false, every other value is true
  logical16 = 26,
  logical32 = 27,  ///< Fortran's default logical
  logical64 = 28,
  bytes = 29,  ///< n opaque bytes, for moving data and for user operations
};

/// The element of minloc and maxloc: a value and an index, laid out like MPI's C pair types.
template <typename Value, typename Index>
struct ValueIndex {
  Value value;
  Index index;
  friend constexpr bool operator==(const ValueIndex&, const ValueIndex&) = default;
};

/// An element type. A small value type that is passed by copy. Counterpart: MPI_Datatype, ncclDataType_t.
class Datatype {
 public:
  constexpr Datatype() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): a kind is a datatype
  constexpr Datatype(DatatypeKind kind) : kind_(kind), size_(size_of(kind)) {}

  /// An element of n opaque bytes, n > 0.
  [[nodiscard]] static constexpr Datatype bytes(std::size_t n) {
    Datatype type;
    type.kind_ = DatatypeKind::bytes;
    type.size_ = n;
    return type;
  }

  [[nodiscard]] constexpr DatatypeKind kind() const { return kind_; }
  /// Size of an element, padding included, in bytes.
  [[nodiscard]] constexpr std::size_t size() const { return size_; }
  friend constexpr bool operator==(const Datatype&, const Datatype&) = default;

 private:
  static constexpr std::size_t size_of(DatatypeKind kind) {
    switch (kind) {
      case DatatypeKind::int8:
      case DatatypeKind::uint8:
      case DatatypeKind::float8_e4m3:
      case DatatypeKind::float8_e5m2:
      case DatatypeKind::logical8:
      case DatatypeKind::bytes:
        return 1;
      case DatatypeKind::int16:
      case DatatypeKind::uint16:
      case DatatypeKind::float16:
      case DatatypeKind::bfloat16:
      case DatatypeKind::logical16:
        return 2;
      case DatatypeKind::int32:
      case DatatypeKind::uint32:
      case DatatypeKind::float32:
      case DatatypeKind::logical32:
        return 4;
      case DatatypeKind::float64_int32:
      case DatatypeKind::int64_int32:
      case DatatypeKind::int64_int64:
      case DatatypeKind::float64_int64:
      case DatatypeKind::float64_float64:
      case DatatypeKind::complex128:
        return 16;
      default:
        return 8;
    }
  }

  DatatypeKind kind_ = DatatypeKind::uint8;
  std::size_t size_ = 1;
};

/// The name of a type in messages, tables and command lines: "float32", "bytes(12)".
[[nodiscard]] TUTTI_EXPORT const char* datatype_name(DatatypeKind kind) noexcept;

/// Maps a C++ type to its Datatype, its member `value`. Specialise it for a struct of your own, which can then be
/// moved, and combined by user operations:
///   template <>
///   struct tutti::DatatypeOf<Particle> : tutti::BytesOf<Particle> {};
template <typename T>
struct DatatypeOf {};

/// A type that has a Datatype.
template <typename T>
concept Element = requires {
  { DatatypeOf<T>::value } -> std::convertible_to<Datatype>;
};

/// The base of DatatypeOf for a struct: its bytes, padding included.
template <typename T>
struct BytesOf {
  static_assert(
      std::is_trivially_copyable_v<T>,
      "only a trivially copyable type can be sent as bytes; this one has pointers or constructors that a copy "
      "of its bytes would break");
  static constexpr Datatype value = Datatype::bytes(sizeof(T));
};

/// An enum has the Datatype of its underlying type.
template <typename T>
requires std::is_enum_v<T>
struct DatatypeOf<T> : DatatypeOf<std::underlying_type_t<T>> {
};

#define TUTTI_DATATYPE_OF(type, kind_name)                    \
  template <>                                                 \
  struct DatatypeOf<type> {                                   \
    static constexpr Datatype value{DatatypeKind::kind_name}; \
  };
TUTTI_DATATYPE_OF(bool, logical8)
TUTTI_DATATYPE_OF(char, int8)
TUTTI_DATATYPE_OF(signed char, int8)
TUTTI_DATATYPE_OF(unsigned char, uint8)
TUTTI_DATATYPE_OF(std::byte, uint8)
TUTTI_DATATYPE_OF(short, int16)
TUTTI_DATATYPE_OF(unsigned short, uint16)
TUTTI_DATATYPE_OF(int, int32)
TUTTI_DATATYPE_OF(unsigned int, uint32)
TUTTI_DATATYPE_OF(long, int64)
TUTTI_DATATYPE_OF(unsigned long, uint64)
TUTTI_DATATYPE_OF(long long, int64)
TUTTI_DATATYPE_OF(unsigned long long, uint64)
TUTTI_DATATYPE_OF(float8_e4m3_t, float8_e4m3)
TUTTI_DATATYPE_OF(float8_e5m2_t, float8_e5m2)
TUTTI_DATATYPE_OF(float16_t, float16)
TUTTI_DATATYPE_OF(bfloat16_t, bfloat16)
TUTTI_DATATYPE_OF(float, float32)
TUTTI_DATATYPE_OF(double, float64)
TUTTI_DATATYPE_OF(std::complex<float>, complex64)
TUTTI_DATATYPE_OF(std::complex<double>, complex128)
using Float32Int32 = ValueIndex<float, std::int32_t>;
using Float64Int32 = ValueIndex<double, std::int32_t>;
using Int32Int32 = ValueIndex<std::int32_t, std::int32_t>;
using Int64Int32 = ValueIndex<std::int64_t, std::int32_t>;
using Int64Int64 = ValueIndex<std::int64_t, std::int64_t>;
using Float64Int64 = ValueIndex<double, std::int64_t>;
using Float32Float32 = ValueIndex<float, float>;
using Float64Float64 = ValueIndex<double, double>;
TUTTI_DATATYPE_OF(Float32Int32, float32_int32)
TUTTI_DATATYPE_OF(Float64Int32, float64_int32)
TUTTI_DATATYPE_OF(Int32Int32, int32_int32)
TUTTI_DATATYPE_OF(Int64Int32, int64_int32)
TUTTI_DATATYPE_OF(Int64Int64, int64_int64)
TUTTI_DATATYPE_OF(Float64Int64, float64_int64)
TUTTI_DATATYPE_OF(Float32Float32, float32_float32)
TUTTI_DATATYPE_OF(Float64Float64, float64_float64)
#undef TUTTI_DATATYPE_OF

static_assert(sizeof(bool) == 1, "bool is a logical8");

/// The Datatype of a C++ type: datatype_of<float>() is DatatypeKind::float32.
template <typename T>
[[nodiscard]] constexpr Datatype datatype_of() {
  static_assert(Element<T>,
                "this type has no tutti::Datatype; for a struct, specialise: template <> struct tutti::DatatypeOf<T> : "
                "tutti::BytesOf<T> {}; or pass Buffer(address, count, Datatype::bytes(sizeof(T)))");
  if constexpr (Element<T>)
    return DatatypeOf<T>::value;
  else
    return {};
}

}  // namespace tutti
