// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <cmath>

#include "handles.hpp"
#include "structs.hpp"

namespace tutti::c {
namespace {

std::chrono::nanoseconds timeout(double seconds) {
  constexpr double longest = 9e9;
  if (!(seconds >= 0.0) || seconds > longest)
    refuse_member(options_argument, "timeout", fmt::format("is {}; pass 0 (none) to {} seconds", seconds, longest));
  return std::chrono::nanoseconds(std::llround(seconds * 1e9));
}

int option_within(std::int32_t value, int most, const char* member) {
  return c::within<int>(value, 0, most, options_argument, member);
}

}  // namespace

Options options(const tutti_options_t* given) {
  if (given == nullptr) return {};
  const auto values = read_struct(given, tutti_options_t TUTTI_OPTIONS_INIT, TUTTI_OPTIONS_VERSION, options_argument,
                                  "TUTTI_OPTIONS_INIT");
  Options result;
  result.stream = stream_of(values, options_argument);
  result.memory = memory_of(values, options_argument);
  result.accumulation =
      static_cast<Accumulation>(option_within(values.accumulation, TUTTI_ACCUMULATION_EXACT, "accumulation"));
  result.reproducible = values.reproducible != 0;
  result.timeout = timeout(values.timeout);
  if (values.algorithm != nullptr) result.algorithm = values.algorithm;
  return result;
}

CommunicatorOptions options(const tutti_comm_options_t* given) {
  if (given == nullptr) return {};
  const auto values = read_struct(given, tutti_comm_options_t TUTTI_COMM_OPTIONS_INIT, TUTTI_COMM_OPTIONS_VERSION,
                                  options_argument, "TUTTI_COMM_OPTIONS_INIT");
  CommunicatorOptions result;
  result.timeout = timeout(values.timeout);
  result.reproducible = values.reproducible != 0;
  result.native_blocking = values.native_blocking != 0;
  result.check = static_cast<CheckMode>(option_within(values.check, TUTTI_CHECK_BYTES, "check"));
  if (values.name != nullptr) result.name = values.name;
  return result;
}

}  // namespace tutti::c
