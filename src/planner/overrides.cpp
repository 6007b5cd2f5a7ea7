// SPDX-License-Identifier: BSD-3-Clause
#include "planner/overrides.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <tutti/error.hpp>

#include "core/hash.hpp"
#include "planner/candidates.hpp"
#include "planner/names.hpp"

namespace tutti::detail::tuning {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\n\r";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string_view variable() noexcept {
  const char* text = std::getenv("TUTTI_ALGORITHM");
  return text == nullptr ? std::string_view{} : text;
}

}  // namespace

std::vector<std::string> algorithm_names(Operation operation) {
  Signature signature;
  signature.operation = operation;
  Machine machine;
  machine.size = 2;
  std::vector<std::string> names;
  std::vector<std::string> backends;
  const auto add_once = [](std::vector<std::string>& to, std::string_view name) {
    if (std::ranges::find(to, name) == to.end()) to.emplace_back(name);
  };
  for (const Candidate& way : candidates(signature, machine)) {
    if (way.algorithm != nullptr) add_once(names, way.algorithm->name);
    if (way.name != way.backend->name) add_once(names, way.name);
    add_once(backends, way.backend->name);
  }
  names.insert(names.end(), backends.begin(), backends.end());
  return names;
}

Overrides::Overrides(std::string_view text) {
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    if (const std::string_view entry = trimmed(text.substr(0, comma)); !entry.empty()) add(entry);
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
  }
}

void Overrides::add(std::string_view entry) {
  const std::size_t colon = entry.find(':');
  const std::string_view word = trimmed(entry.substr(0, colon));
  Operation operation{};
  if (!find_operation(word, operation)) {
    std::vector<std::string> valid;
    for (const Operation o : all_operations) valid.emplace_back(operation_name(o));
    throw Error(ErrorCode::invalid_argument, fmt::format("TUTTI_ALGORITHM: there is no operation '{}'; valid: {}", word,
                                                         fmt::join(nearest_first(std::move(valid), word), ", ")));
  }
  const std::string_view name = colon == std::string_view::npos ? "" : trimmed(entry.substr(colon + 1));
  std::vector<std::string> valid = algorithm_names(operation);
  if (std::find(valid.begin(), valid.end(), name) == valid.end())
    throw Error(ErrorCode::invalid_algorithm,
                fmt::format("TUTTI_ALGORITHM: {} has no algorithm '{}'; valid: {}", word, name,
                            fmt::join(nearest_first(std::move(valid), name), ", ")));
  std::string& mine = names_[static_cast<std::size_t>(operation)];
  if (!mine.empty())
    throw Error(ErrorCode::invalid_argument,
                fmt::format("TUTTI_ALGORITHM names {} twice, as '{}' and '{}'; keep one", word, mine, name));
  mine = name;
}

std::string_view override_for(Operation operation) {
  static const Overrides read(variable());
  return read.of(operation);
}

std::uint64_t overrides_hash() noexcept { return hash(variable()); }

}  // namespace tutti::detail::tuning
