// SPDX-License-Identifier: BSD-3-Clause
#include "training/reducer/fault.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tutti/error.hpp>

namespace tutti::detail::reducer {
namespace {

constexpr unsigned parameter_bits = 32;
constexpr unsigned rank_bits = 24;
constexpr std::int64_t most_ranks = (std::int64_t{1} << rank_bits) - 1;
constexpr std::size_t most_parameters = std::numeric_limits<std::uint32_t>::max();

}  // namespace

std::int64_t Fault::word() const {
  if (kind == Kind::none) return 0;
  const std::int64_t low = static_cast<std::int64_t>(std::min(parameter, most_parameters));
  // The largest word wins, and the lowest rank shall be named.
  const std::int64_t turned = most_ranks - rank;
  return static_cast<std::int64_t>(kind) << (parameter_bits + rank_bits) | turned << parameter_bits | low;
}

Fault Fault::from_word(std::int64_t word) {
  if (word == 0) return {};
  return {static_cast<Kind>(word >> (parameter_bits + rank_bits)),
          static_cast<int>(most_ranks - (word >> parameter_bits & most_ranks)),
          static_cast<std::size_t>(word & ((std::int64_t{1} << parameter_bits) - 1))};
}

void Fault::throw_as_error(std::span<const Parameter> parameters, std::size_t first_number) const {
  const auto name = [&] {
    return fmt::format("parameter {} ('{}')", parameter + first_number, parameters[parameter].name);
  };
  const auto fail = [](const std::string& what) {
    throw Error(ErrorCode::invalid_argument, "gradient reducer: " + what);
  };
  switch (kind) {
    case Kind::none:
      return;
    case Kind::missing:
      fail(
          fmt::format("rank {} called wait() without ready() for {}; call ready(i) once a step for each parameter, or "
                      "set the option find_unused",
                      rank, name()));
      return;
    case Kind::changed:
      fail(
          fmt::format("on rank {} the gradient of {} changed between ready() and wait(); call ready(i) after the last "
                      "change",
                      rank, name()));
      return;
    case Kind::twice:
      fail(fmt::format("rank {} marked {} ready twice in one step; call ready(i) once a step for each parameter", rank,
                       name()));
      return;
    case Kind::out_of_range:
      fail(fmt::format("rank {} called ready({}), but there are {} parameters; pass a number that add() returned", rank,
                       parameter == most_parameters ? "a negative number, or one of more than 32 bits"
                                                    : std::to_string(parameter + first_number),
                       parameters.size()));
      return;
  }
}

}  // namespace tutti::detail::reducer
