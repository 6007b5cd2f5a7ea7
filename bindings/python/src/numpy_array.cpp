// SPDX-License-Identifier: BSD-3-Clause
#include "numpy_array.hpp"

#include <nanobind/ndarray.h>

#include <complex>

namespace nb = nanobind;

namespace tutti::python {
namespace {

nb::dlpack::dtype dtype_of(DatatypeKind kind, std::size_t size) {
  switch (kind) {
#define TUTTI_DTYPE(name, type) \
  case DatatypeKind::name:      \
    return nb::dtype<type>();
    TUTTI_DTYPE(int8, std::int8_t)
    TUTTI_DTYPE(int16, std::int16_t)
    TUTTI_DTYPE(int32, std::int32_t)
    TUTTI_DTYPE(int64, std::int64_t)
    TUTTI_DTYPE(uint8, std::uint8_t)
    TUTTI_DTYPE(uint16, std::uint16_t)
    TUTTI_DTYPE(uint32, std::uint32_t)
    TUTTI_DTYPE(uint64, std::uint64_t)
    TUTTI_DTYPE(float32, float)
    TUTTI_DTYPE(float64, double)
    TUTTI_DTYPE(complex64, std::complex<float>)
    TUTTI_DTYPE(complex128, std::complex<double>)
    TUTTI_DTYPE(logical8, bool)
#undef TUTTI_DTYPE
    case DatatypeKind::float16: {
      nb::dlpack::dtype half = nb::dtype<float>();
      half.bits = 16;
      return half;
    }
    default:
      return size == 2 ? nb::dtype<std::uint16_t>() : nb::dtype<std::uint8_t>();
  }
}

}  // namespace

nb::object numpy_array(void* data, Datatype type, const std::vector<std::size_t>& shape, nb::handle owner,
                       const std::vector<std::int64_t>& strides) {
  const nb::dlpack::dtype dtype = dtype_of(type.kind(), type.size());
  std::vector<std::size_t> extents = shape;
  if (dtype.bits / 8U != type.size()) extents.push_back(type.size());
  const nb::ndarray<nb::numpy> array(data, extents.size(), extents.data(), owner,
                                     strides.empty() ? nullptr : strides.data(), dtype);
  if (!owner.is_valid()) return nb::cast(array, nb::rv_policy::reference);
  return nb::cast(array);
}

}  // namespace tutti::python
