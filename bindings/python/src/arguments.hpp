// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <string>
#include <tutti/counts.hpp>
#include <tutti/options.hpp>
#include <vector>

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

/// The options of a call from its keyword arguments; throws TypeError for an unknown keyword.
[[nodiscard]] Options options_from(const nanobind::kwargs& keywords);

/// A stream from None, the integer of a cudaStream_t, or an object with cuda_stream (PyTorch) or ptr (CuPy).
[[nodiscard]] Stream stream_from(nanobind::handle stream);

/// Seconds from a number; None is 0.
[[nodiscard]] std::chrono::nanoseconds duration_from(nanobind::handle seconds);

/// The memory kind of a name: "host", "pinned", "device", "managed", or None to find it.
[[nodiscard]] MemoryKind memory_from(nanobind::handle name);

/// Counts or displacements from a sequence of integers; None gives none.
using Numbers = std::vector<std::size_t>;
[[nodiscard]] Numbers numbers_from(nanobind::handle sequence, const char* argument);

/// The displacements that a v-form gets: the given ones or, for None, those of blocks without gaps.
[[nodiscard]] Numbers displacements_from(nanobind::handle sequence, const Numbers& counts, const char* argument);

}  // namespace tutti::python
