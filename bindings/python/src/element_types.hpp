// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string_view>
#include <tutti/datatype.hpp>

#include "dlpack.hpp"

namespace tutti::python {

/// The datatype of an element in Python's buffer protocol: its format ("f", "<i4" is not one) and its size. A format
/// without counterpart gives opaque bytes of its size, which calls move and user operations combine. Throws TypeError
/// for Python objects.
[[nodiscard]] Datatype type_of_format(const char* format, std::size_t size);

/// The datatype of a NumPy type: its typestr ("<f4") and its name ("bfloat16"), by which types of ml_dtypes are told.
[[nodiscard]] Datatype type_of_array_interface(std::string_view typestr, std::string_view name);

/// The datatype of an element in DLPack. Throws TypeError for one that Tutti does not have.
[[nodiscard]] Datatype type_of_dlpack(dlpack::Type type);

/// The datatype of a name ("float32"), of a NumPy type or of the class of its scalars.
[[nodiscard]] Datatype type_of_name(std::string_view name);

}  // namespace tutti::python
