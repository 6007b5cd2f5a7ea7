// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/nanobind.h>

#include <string>

namespace tutti::python {

/// The value of an argument. Throws TypeError, which names the argument and says what to pass, where nanobind's own
/// cast throws an error that names neither.
template <typename T>
[[nodiscard]] T value_from(nanobind::handle object, const char* argument, const char* wanted) {
  T value{};
  if (nanobind::try_cast<T>(object, value)) return value;
  throw nanobind::type_error(
      (std::string("argument ") + argument + " is of type " + Py_TYPE(object.ptr())->tp_name + "; pass " + wanted)
          .c_str());
}

}  // namespace tutti::python
