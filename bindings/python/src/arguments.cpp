// SPDX-License-Identifier: BSD-3-Clause
#include "arguments.hpp"

#include <nanobind/stl/string.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <tutti/error.hpp>

namespace nb = nanobind;

namespace tutti::python {
namespace {

std::string text_of(nb::handle object) { return nb::str(object).c_str(); }

Accumulation accumulation_from(nb::handle name) {
  const std::string text = text_of(name);
  if (text == "full") return Accumulation::full;
  if (text == "backend") return Accumulation::backend;
  if (text == "exact") return Accumulation::exact;
  throw Error(ErrorCode::invalid_argument,
              "argument accumulation is '" + text + "'; pass 'full', 'backend' or 'exact'");
}

void set_option(Options& options, std::string_view key, nb::handle value) {
  if (key == "stream")
    options.stream = stream_from(value);
  else if (key == "timeout")
    options.timeout = duration_from(value);
  else if (key == "memory")
    options.memory = memory_from(value);
  else if (key == "algorithm")
    options.algorithm = value.is_none() ? std::string() : value_from<std::string>(value, "algorithm", "a name");
  else if (key == "reproducible")
    options.reproducible = value_from<bool>(value, "reproducible", "True or False");
  else if (key == "accumulation")
    options.accumulation = accumulation_from(value);
  else
    throw nb::type_error(("unexpected keyword argument '" + std::string(key) +
                          "'; the options of a call are stream, memory, timeout, algorithm, reproducible, accumulation")
                             .c_str());
}

}  // namespace

Options options_from(const nb::kwargs& keywords) {
  Options options;
  if (keywords.size() == 0) return options;
  for (const auto [key, value] : keywords) set_option(options, nb::borrow<nb::str>(key).c_str(), value);
  return options;
}

Stream stream_from(nb::handle stream) {
  if (stream.is_none()) return {};
  nb::object number = nb::borrow(stream);
  for (const char* attribute : {"cuda_stream", "ptr"})
    if (!nb::isinstance<nb::int_>(number)) number = nb::getattr(stream, attribute, nb::borrow(stream));
  if (!nb::isinstance<nb::int_>(number))
    throw nb::type_error(
        "argument stream is neither None, the integer of a cudaStream_t nor a stream of PyTorch or CuPy; pass "
        "torch.cuda.current_stream().cuda_stream");
  return {StreamKind::cuda, reinterpret_cast<void*>(nb::cast<std::uintptr_t>(number))};
}

std::chrono::nanoseconds duration_from(nb::handle seconds) {
  if (seconds.is_none()) return {};
  const double value = value_from<double>(seconds, "timeout", "seconds as a number, or None");
  if (!(value >= 0))
    throw Error(ErrorCode::invalid_argument, "argument timeout is " + std::to_string(value) + " s; pass 0 or more");
  const double most = 1e9 * 3600 * 24 * 365;
  return std::chrono::nanoseconds(static_cast<std::int64_t>(std::ceil(std::fmin(value * 1e9, most))));
}

MemoryKind memory_from(nb::handle name) {
  if (name.is_none()) return MemoryKind::detect;
  const std::string text = text_of(name);
  for (const MemoryKind kind : {MemoryKind::host, MemoryKind::pinned, MemoryKind::device, MemoryKind::managed})
    if (text == memory_kind_name(kind)) return kind;
  throw Error(ErrorCode::invalid_argument,
              "argument memory is '" + text + "'; pass 'host', 'pinned', 'device', 'managed' or None");
}

Numbers numbers_from(nb::handle sequence, const char* argument) {
  Numbers numbers;
  if (sequence.is_none()) return numbers;
  const auto size = static_cast<std::size_t>(nb::len_hint(sequence));
  numbers.reserve(size);
  for (const nb::handle item : sequence) {
    const nb::object number = nb::steal(PyNumber_Index(item.ptr()));
    if (!number.is_valid()) {
      PyErr_Clear();
      throw nb::type_error((std::string("argument ") + argument + " must have integers").c_str());
    }
    const long long value = nb::cast<long long>(number);
    // The library refuses this number, and tells the other ranks.
    numbers.push_back(value < 0 ? std::numeric_limits<std::size_t>::max() : static_cast<std::size_t>(value));
  }
  return numbers;
}

Numbers displacements_from(nb::handle sequence, const Numbers& counts, const char* argument) {
  if (!sequence.is_none()) return numbers_from(sequence, argument);
  Numbers displacements;
  displacements.reserve(counts.size());
  std::size_t next = 0;
  for (const std::size_t count : counts) {
    displacements.push_back(next);
    next += count;
  }
  return displacements;
}

}  // namespace tutti::python
