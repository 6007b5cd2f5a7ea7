// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <tutti/datatype.hpp>
#include <vector>

namespace tutti::python {

/// A NumPy array of memory that `owner` keeps alive; without an owner it is valid during a call only. Types that NumPy
/// lacks come as unsigned integers of their size, or as bytes in one more dimension. Strides are in elements; none:
/// C-contiguous.
[[nodiscard]] nanobind::object numpy_array(void* data, Datatype type, const std::vector<std::size_t>& shape,
                                           nanobind::handle owner, const std::vector<std::int64_t>& strides = {});

}  // namespace tutti::python
