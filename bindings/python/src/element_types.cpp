// SPDX-License-Identifier: BSD-3-Clause
#include "element_types.hpp"

#include <nanobind/nanobind.h>

#include <array>
#include <cstdlib>
#include <string>
#include <utility>

namespace nb = nanobind;

namespace tutti::python {
namespace {

using Kind = DatatypeKind;

Datatype integer(std::size_t size, bool is_signed) {
  switch (size) {
    case 1:
      return is_signed ? Kind::int8 : Kind::uint8;
    case 2:
      return is_signed ? Kind::int16 : Kind::uint16;
    case 4:
      return is_signed ? Kind::int32 : Kind::uint32;
    case 8:
      return is_signed ? Kind::int64 : Kind::uint64;
    default:
      return Datatype::bytes(size);
  }
}

Datatype floating(std::size_t size) {
  switch (size) {
    case 2:
      return Kind::float16;
    case 4:
      return Kind::float32;
    case 8:
      return Kind::float64;
    default:
      return Datatype::bytes(size);
  }
}

Datatype complex(std::size_t size) {
  if (size == 8) return Kind::complex64;
  if (size == 16) return Kind::complex128;
  return Datatype::bytes(size);
}

/// A format of one letter.
Datatype type_of_letter(char letter, std::size_t size) {
  switch (letter) {
    case '?':
      return Kind::logical8;
    case 'b':
    case 'h':
    case 'i':
    case 'l':
    case 'q':
    case 'n':
      return integer(size, true);
    case 'B':
    case 'H':
    case 'I':
    case 'L':
    case 'Q':
    case 'N':
      return integer(size, false);
    case 'e':
    case 'f':
    case 'd':
      return floating(size);
    case 'O':
      throw nb::type_error("an array of Python objects has no datatype; convert it to numbers");
    default:
      return Datatype::bytes(size);
  }
}

/// The letters of the fields in "T{f:value:i:index:4x}": "fi".
std::string fields_of(std::string_view format) {
  std::string letters;
  bool in_name = false;
  for (const char c : format.substr(2)) {
    if (c == ':') in_name = !in_name;
    const bool is_field = (c >= 'a' && c <= 'z' && c != 'x') || (c >= 'A' && c <= 'Z') || c == '?';
    if (!in_name && is_field) letters += c == 'l' ? 'q' : c;
  }
  return letters;
}

/// Value-index pairs; every other struct is opaque.
Datatype type_of_struct(std::string_view format, std::size_t size) {
  struct Pair {
    const char* letters;
    std::size_t size;
    Kind kind;
  };
  static constexpr std::array<Pair, 8> pairs{{{"fi", 8, Kind::float32_int32},
                                              {"di", 16, Kind::float64_int32},
                                              {"ii", 8, Kind::int32_int32},
                                              {"qi", 16, Kind::int64_int32},
                                              {"qq", 16, Kind::int64_int64},
                                              {"dq", 16, Kind::float64_int64},
                                              {"ff", 8, Kind::float32_float32},
                                              {"dd", 16, Kind::float64_float64}}};
  const std::string letters = fields_of(format);
  if (letters.find('O') != std::string::npos)
    throw nb::type_error("an array of structures with Python objects has no datatype; leave these fields out");
  for (const Pair& pair : pairs)
    if (letters == pair.letters && size == pair.size) return pair.kind;
  return Datatype::bytes(size);
}

}  // namespace

Datatype type_of_format(const char* format, std::size_t size) {
  if (format == nullptr) return integer(size, false);
  if (format[0] != '\0' && format[1] == '\0') return type_of_letter(format[0], size);
  std::string_view text(format);
  if (text.empty()) return Datatype::bytes(size);
  if (text.starts_with('>') || text.starts_with('!')) return Datatype::bytes(size);
  if (text.starts_with('<') || text.starts_with('=') || text.starts_with('@')) text.remove_prefix(1);
  if (text.size() == 1) return type_of_letter(text[0], size);
  if (text.size() == 2 && text[0] == 'Z') return complex(size);
  if (text.starts_with("T{")) return type_of_struct(text, size);
  return Datatype::bytes(size);
}

Datatype type_of_array_interface(std::string_view typestr, std::string_view name) {
  if (name == "bfloat16") return Kind::bfloat16;
  if (name == "float8_e4m3fn") return Kind::float8_e4m3;
  if (name == "float8_e5m2") return Kind::float8_e5m2;
  if (typestr.size() < 3) throw nb::type_error("the array interface has no typestr");
  const auto size = static_cast<std::size_t>(std::strtoul(typestr.data() + 2, nullptr, 10));
  if (size == 0) throw nb::type_error("the elements of the array have no size; pass numbers");
  if (typestr[0] == '>' && size > 1) return Datatype::bytes(size);
  switch (typestr[1]) {
    case 'b':
      return Kind::logical8;
    case 'i':
      return integer(size, true);
    case 'u':
      return integer(size, false);
    case 'f':
      return floating(size);
    case 'c':
      return complex(size);
    case 'O':
      throw nb::type_error("an array of Python objects has no datatype; convert it to numbers");
    default:
      return Datatype::bytes(size);
  }
}

Datatype type_of_dlpack(dlpack::Type type) {
  const std::size_t size = type.bits / 8U;
  const std::string text = std::to_string(static_cast<int>(type.code)) + " of " + std::to_string(type.bits) + " bits";
  if (type.lanes != 1 || type.bits % 8 != 0 || size == 0)
    throw nb::type_error(("Tutti has no datatype for DLPack's type code " + text).c_str());
  switch (type.code) {
    case dlpack::TypeCode::integer:
      return integer(size, true);
    case dlpack::TypeCode::unsigned_integer:
      return integer(size, false);
    case dlpack::TypeCode::floating:
      return floating(size);
    case dlpack::TypeCode::bfloat:
      return Kind::bfloat16;
    case dlpack::TypeCode::complex:
      return complex(size);
    case dlpack::TypeCode::boolean:
      return Kind::logical8;
    case dlpack::TypeCode::float8_e4m3fn:
      return Kind::float8_e4m3;
    case dlpack::TypeCode::float8_e5m2:
      return Kind::float8_e5m2;
  }
  throw nb::type_error(("Tutti has no datatype for DLPack's type code " + text).c_str());
}

Datatype type_of_name(std::string_view name) {
  if (name == "bool") return Kind::logical8;
  if (name == "float8_e4m3fn") return Kind::float8_e4m3;
  for (int kind = 1; kind < static_cast<int>(Kind::bytes); ++kind)
    if (name == datatype_name(static_cast<Kind>(kind))) return static_cast<Kind>(kind);
  throw nb::type_error(("Tutti has no datatype " + std::string(name)).c_str());
}

}  // namespace tutti::python
