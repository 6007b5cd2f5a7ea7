// SPDX-License-Identifier: BSD-3-Clause
// Checks that the numbers and the version in tutti.h equal those of C++.
#include <tutti/version.hpp>

#include <string_view>

namespace {
constexpr int cxx_version[] = {TUTTI_VERSION_MAJOR, TUTTI_VERSION_MINOR, TUTTI_VERSION_PATCH};
constexpr std::string_view cxx_version_string = TUTTI_VERSION_STRING;
}  // namespace
#undef TUTTI_VERSION_MAJOR
#undef TUTTI_VERSION_MINOR
#undef TUTTI_VERSION_PATCH
#undef TUTTI_VERSION_STRING
#include <tutti.h>

#include <tutti/buffer.hpp>
#include <tutti/datatype.hpp>
#include <tutti/error.hpp>
#include <tutti/options.hpp>
#include <tutti/point_to_point.hpp>
#include <tutti/reduce_op.hpp>

namespace {

static_assert(cxx_version[0] == TUTTI_VERSION_MAJOR && cxx_version[1] == TUTTI_VERSION_MINOR &&
              cxx_version[2] == TUTTI_VERSION_PATCH && cxx_version_string == TUTTI_VERSION_STRING);

template <typename Enumerator>
constexpr bool same(Enumerator cxx, int c) {
  return static_cast<int>(cxx) == c;
}

constexpr int TUTTI_ERROR_SUCCESS = TUTTI_SUCCESS;
#define TUTTI_ERROR_CODE(name, suffix, value, text) \
  static_assert(same(tutti::ErrorCode::name, TUTTI_ERROR_##suffix) && TUTTI_ERROR_##suffix == (value));
#include <tutti/error_codes.def>
#undef TUTTI_ERROR_CODE

using enum tutti::DatatypeKind;

static_assert(same(int8, TUTTI_INT8));
static_assert(same(int16, TUTTI_INT16));
static_assert(same(int32, TUTTI_INT32));
static_assert(same(int64, TUTTI_INT64));
static_assert(same(uint8, TUTTI_UINT8));
static_assert(same(uint16, TUTTI_UINT16));
static_assert(same(uint32, TUTTI_UINT32));
static_assert(same(uint64, TUTTI_UINT64));
static_assert(same(float8_e4m3, TUTTI_FLOAT8_E4M3));
static_assert(same(float8_e5m2, TUTTI_FLOAT8_E5M2));
static_assert(same(float16, TUTTI_FLOAT16));
static_assert(same(bfloat16, TUTTI_BFLOAT16));
static_assert(same(float32, TUTTI_FLOAT32));
static_assert(same(float64, TUTTI_FLOAT64));
static_assert(same(complex64, TUTTI_COMPLEX64));
static_assert(same(complex128, TUTTI_COMPLEX128));
static_assert(same(float32_int32, TUTTI_FLOAT32_INT32));
static_assert(same(float64_int32, TUTTI_FLOAT64_INT32));
static_assert(same(int32_int32, TUTTI_INT32_INT32));
static_assert(same(int64_int32, TUTTI_INT64_INT32));
static_assert(same(int64_int64, TUTTI_INT64_INT64));
static_assert(same(float64_int64, TUTTI_FLOAT64_INT64));
static_assert(same(float32_float32, TUTTI_FLOAT32_FLOAT32));
static_assert(same(float64_float64, TUTTI_FLOAT64_FLOAT64));
static_assert(same(logical8, TUTTI_LOGICAL8));
static_assert(same(logical16, TUTTI_LOGICAL16));
static_assert(same(logical32, TUTTI_LOGICAL32));
static_assert(same(logical64, TUTTI_LOGICAL64));
static_assert(same(bytes, TUTTI_BYTE));

static_assert(same(tutti::ReduceKind::sum, TUTTI_SUM));
static_assert(same(tutti::ReduceKind::prod, TUTTI_PROD));
static_assert(same(tutti::ReduceKind::min, TUTTI_MIN));
static_assert(same(tutti::ReduceKind::max, TUTTI_MAX));
static_assert(same(tutti::ReduceKind::avg, TUTTI_AVG));
static_assert(same(tutti::ReduceKind::land, TUTTI_LAND));
static_assert(same(tutti::ReduceKind::lor, TUTTI_LOR));
static_assert(same(tutti::ReduceKind::lxor, TUTTI_LXOR));
static_assert(same(tutti::ReduceKind::band, TUTTI_BAND));
static_assert(same(tutti::ReduceKind::bor, TUTTI_BOR));
static_assert(same(tutti::ReduceKind::bxor, TUTTI_BXOR));
static_assert(same(tutti::ReduceKind::minloc, TUTTI_MINLOC));
static_assert(same(tutti::ReduceKind::maxloc, TUTTI_MAXLOC));

static_assert(same(tutti::MemoryKind::detect, TUTTI_MEMORY_DETECT));
static_assert(same(tutti::MemoryKind::host, TUTTI_MEMORY_HOST));
static_assert(same(tutti::MemoryKind::pinned, TUTTI_MEMORY_PINNED));
static_assert(same(tutti::MemoryKind::device, TUTTI_MEMORY_DEVICE));
static_assert(same(tutti::MemoryKind::managed, TUTTI_MEMORY_MANAGED));
static_assert(same(tutti::StreamKind::none, TUTTI_STREAM_NONE));
static_assert(same(tutti::StreamKind::cuda, TUTTI_STREAM_CUDA));
static_assert(same(tutti::Accumulation::full, TUTTI_ACCUMULATION_FULL));
static_assert(same(tutti::Accumulation::backend, TUTTI_ACCUMULATION_BACKEND));
static_assert(same(tutti::Accumulation::exact, TUTTI_ACCUMULATION_EXACT));
static_assert(same(tutti::ArrayOrder::c, TUTTI_ORDER_C));
static_assert(same(tutti::ArrayOrder::fortran, TUTTI_ORDER_FORTRAN));
static_assert(tutti::any_source == TUTTI_ANY_SOURCE);
static_assert(tutti::any_tag == TUTTI_ANY_TAG);
static_assert(tutti::proc_null == TUTTI_PROC_NULL);

}  // namespace
