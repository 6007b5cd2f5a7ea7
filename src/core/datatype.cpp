// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/datatype.hpp>

namespace tutti {

const char* datatype_name(DatatypeKind kind) noexcept {
  switch (kind) {
#define TUTTI_NAME(name)   \
  case DatatypeKind::name: \
    return #name;
    TUTTI_NAME(int8)
    TUTTI_NAME(int16)
    TUTTI_NAME(int32)
    TUTTI_NAME(int64)
    TUTTI_NAME(uint8)
    TUTTI_NAME(uint16)
    TUTTI_NAME(uint32)
    TUTTI_NAME(uint64)
    TUTTI_NAME(float8_e4m3)
    TUTTI_NAME(float8_e5m2)
    TUTTI_NAME(float16)
    TUTTI_NAME(bfloat16)
    TUTTI_NAME(float32)
    TUTTI_NAME(float64)
    TUTTI_NAME(complex64)
    TUTTI_NAME(complex128)
    TUTTI_NAME(float32_int32)
    TUTTI_NAME(float64_int32)
    TUTTI_NAME(int32_int32)
    TUTTI_NAME(int64_int32)
    TUTTI_NAME(int64_int64)
    TUTTI_NAME(float64_int64)
    TUTTI_NAME(float32_float32)
    TUTTI_NAME(float64_float64)
    TUTTI_NAME(logical8)
    TUTTI_NAME(logical16)
    TUTTI_NAME(logical32)
    TUTTI_NAME(logical64)
    TUTTI_NAME(bytes)
#undef TUTTI_NAME
  }
  return "unknown datatype";
}

}  // namespace tutti
