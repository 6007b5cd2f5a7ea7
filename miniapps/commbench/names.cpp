// SPDX-License-Identifier: BSD-3-Clause
#include "names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <tutti/algorithms.hpp>

namespace tutti::commbench {
namespace {

template <typename T>
struct Named {
  std::string name;
  T value;
};

template <typename T>
std::vector<std::string> names_in(const std::vector<Named<T>>& all) {
  std::vector<std::string> names;
  for (const auto& entry : all) names.push_back(entry.name);
  return names;
}

template <typename T, typename Other>
std::vector<T> parse(const char* option, const std::vector<std::string>& names, const std::vector<Named<T>>& all,
                     const Other& other, const std::string& more = {}) {
  std::vector<T> values;
  const auto add = [&](const T& value) {
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  };
  for (const std::string& name : names) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& entry) { return entry.name == name; });
    T value{};
    if (name == "all")
      for (const auto& entry : all) add(entry.value);
    else if (found != all.end())
      add(found->value);
    else if (other(name, value))
      add(value);
    else
      throw std::invalid_argument(fmt::format("{}: there is no '{}'; choose from {}, or all{}", option, name,
                                              fmt::join(names_in(all), ", "), more));
  }
  if (values.empty()) throw std::invalid_argument(fmt::format("{}: the list is empty; name at least one", option));
  return values;
}

template <typename T>
std::vector<T> parse(const char* option, const std::vector<std::string>& names, const std::vector<Named<T>>& all) {
  return parse(option, names, all, [](const std::string&, T&) { return false; });
}

std::vector<Named<Operation>> operations() {
  std::vector<Named<Operation>> all;
  for (const Operation operation : all_operations) all.push_back({std::string(operation_name(operation)), operation});
  return all;
}

std::vector<Named<Traffic>> all_named_traffic() {
  std::vector<Named<Traffic>> all;
  for (const Traffic traffic : all_traffic) all.push_back({std::string(traffic_name(traffic)), traffic});
  return all;
}

/// The names of messages, or those of all else.
std::vector<std::string> names_of(const std::vector<std::string>& names, bool are_traffic) {
  const std::vector<std::string> known = traffic_names();
  std::vector<std::string> some;
  for (const std::string& name : names)
    if ((std::find(known.begin(), known.end(), name) != known.end()) == are_traffic) some.push_back(name);
  return some;
}

std::vector<Named<Datatype>> types() {
  std::vector<Named<Datatype>> all;
  for (int kind = 1; kind <= static_cast<int>(DatatypeKind::bytes); ++kind)
    all.push_back({datatype_name(static_cast<DatatypeKind>(kind)), Datatype(static_cast<DatatypeKind>(kind))});
  return all;
}

std::vector<Named<ReduceKind>> ops() {
  std::vector<Named<ReduceKind>> all;
  for (int kind = 1; kind <= static_cast<int>(ReduceKind::user); ++kind)
    all.push_back({reduce_op_name(static_cast<ReduceKind>(kind)), static_cast<ReduceKind>(kind)});
  return all;
}

/// "bytes(12)": 12 opaque bytes an element.
bool parse_bytes(const std::string& name, Datatype& type) {
  if (!name.starts_with("bytes(") || !name.ends_with(")")) return false;
  std::size_t count = 0;
  const char* end = name.data() + name.size() - 1;
  const auto [stop, error] = std::from_chars(name.data() + 6, end, count);
  if (error != std::errc{} || stop != end || count == 0) return false;
  type = Datatype::bytes(count);
  return true;
}

CallForm form_of(Mode mode) {
  if (mode == Mode::blocking) return CallForm::blocking;
  return mode == Mode::nonblocking ? CallForm::nonblocking : CallForm::persistent;
}

}  // namespace

std::vector<std::string> operation_names() { return names_in(operations()); }
std::vector<std::string> traffic_names() { return names_in(all_named_traffic()); }
std::vector<std::string> type_names() { return names_in(types()); }
std::vector<std::string> op_names() { return names_in(ops()); }

std::vector<Operation> parse_operations(const std::vector<std::string>& names) {
  const std::vector<std::string> collectives = names_of(names, false);
  if (collectives.empty() && !names.empty()) return {};
  return parse(
      "--operations", collectives, operations(), [](const std::string&, Operation&) { return false; },
      fmt::format(", or messages: {}", fmt::join(traffic_names(), ", ")));
}

std::vector<Traffic> parse_traffic(const std::vector<std::string>& names) {
  const std::vector<std::string> messages = names_of(names, true);
  return messages.empty() ? std::vector<Traffic>{} : parse("--operations", messages, all_named_traffic());
}

std::vector<Datatype> parse_types(const std::vector<std::string>& names) {
  return parse("--types", names, types(), parse_bytes);
}

std::vector<ReduceKind> parse_ops(const std::vector<std::string>& names) { return parse("--ops", names, ops()); }

std::vector<MemorySpace> parse_memory(const std::vector<std::string>& names) {
  std::vector<Named<MemorySpace>> all;
  for (const MemorySpace space :
       {MemorySpace::host, MemorySpace::shared, MemorySpace::pinned, MemorySpace::device, MemorySpace::managed})
    all.push_back({space_name(space), space});
  return parse("--memory", names, all);
}

std::vector<Mode> parse_modes(const std::vector<std::string>& names) {
  std::vector<Named<Mode>> all;
  for (const Mode mode : {Mode::blocking, Mode::nonblocking, Mode::persistent}) all.push_back({mode_name(mode), mode});
  return parse("--modes", names, all);
}

std::vector<std::string> algorithm_names(const Communicator& comm, const Point& point, const Shape& shape, int root,
                                         Accumulation accumulation) {
  const bool varies = point.operation == Operation::allgatherv || point.operation == Operation::reduce_scatter;
  CallFacts facts{form_of(point.mode), kind_of(point.memory), point.type};
  facts.op = point.op.value_or(ReduceKind::sum);
  facts.count = varies ? shape.total : shape.count;
  facts.root = root;
  facts.accumulation = accumulation;
  std::vector<std::string> names;
  for (const CallAlgorithm& algorithm : algorithms(comm, operation_name(point.operation), facts))
    if (algorithm.can_be_named) names.push_back(algorithm.name);
  return names;
}

std::vector<std::string> all_algorithm_names(const Communicator& comm, Operation operation, MemorySpace memory) {
  std::vector<std::string> names;
  for (const CallAlgorithm& algorithm : algorithms(comm, operation_name(operation), {.memory = kind_of(memory)}))
    names.push_back(algorithm.name);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace tutti::commbench
