// SPDX-License-Identifier: BSD-3-Clause
#include "calls.hpp"

#include <sstream>
#include <stdexcept>

#include "schedules/registry.hpp"

namespace tutti::scale {
namespace {

constexpr std::size_t element = 4;

Operation operation_of(const std::string& name, const std::string& line) {
  for (int i = 0; i <= static_cast<int>(Operation::alltoallv); ++i)
    if (name == operation_name(static_cast<Operation>(i))) return static_cast<Operation>(i);
  throw std::runtime_error("no operation in '" + line + "'");
}

}  // namespace

std::vector<Call> read_calls(std::istream& lines) {
  std::vector<Call> calls;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    Call call;
    if (!(words >> name >> call.bytes >> call.way)) throw std::runtime_error("not a call: '" + line + "'");
    call.operation = operation_of(name, line);
    calls.push_back(std::move(call));
  }
  return calls;
}

std::size_t count_of(const Call& call, int ranks) {
  const bool has_blocks = tutti::has_equal_blocks(call.operation) || call.operation == Operation::alltoallv;
  return call.bytes / element / (has_blocks ? static_cast<std::size_t>(ranks) : 1);
}

Extent extent_of(const Call& call, int ranks) {
  using enum Operation;
  const std::size_t count = count_of(call, ranks);
  const std::size_t all = count * static_cast<std::size_t>(ranks);
  switch (call.operation) {
    case reduce_scatter_block:
    case scatter:
      return {all, count};
    case gather:
    case allgather:
      return {count, all};
    case alltoall:
    case alltoallv:
      return {all, all};
    default:
      return {count, count};
  }
}

}  // namespace tutti::scale
