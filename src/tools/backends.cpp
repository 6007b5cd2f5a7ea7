// SPDX-License-Identifier: BSD-3-Clause
#include "tools/backends.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <sstream>
#include <tutti/environment.hpp>

#include "tuning/names.hpp"
#include "tuning/type_class.hpp"

namespace tutti::tools {
namespace {

using detail::Backend;
using detail::CallKind;
using detail::Operation;
using detail::Signature;

constexpr std::array backends = {Backend::shm, Backend::mpi, Backend::native};
constexpr std::array<std::string_view, 4> backend_names = {"shm", "mpi", "native", "nccl"};

struct Pair {
  Datatype type{};
  ReduceKind op = ReduceKind::sum;
};

/// What an operation can be asked for: all datatypes, with each reduction that is defined for them where it combines.
std::vector<Pair> pairs_of(Operation operation) {
  std::vector<Pair> pairs;
  for (int t = static_cast<int>(DatatypeKind::int8); t <= static_cast<int>(DatatypeKind::bytes); ++t) {
    const auto type = static_cast<DatatypeKind>(t);
    if (!combines(operation)) {
      pairs.push_back({type});
      continue;
    }
    for (int o = static_cast<int>(ReduceKind::sum); o <= static_cast<int>(ReduceKind::user); ++o)
      if (is_defined(static_cast<ReduceKind>(o), type)) pairs.push_back({type, static_cast<ReduceKind>(o)});
  }
  return pairs;
}

/// Which backends can be asked for a call, by their place in `backends`.
std::array<bool, 3> can_make(const Signature& signature, const detail::Machine& machine) {
  std::array<bool, 3> can{};
  for (const auto& candidate : detail::candidates(signature, machine))
    for (std::size_t b = 0; b < backends.size(); ++b)
      can[b] = can[b] || (candidate.backend == backends[b] && candidate.nameable);
  return can;
}

/// How much of what can be asked for a backend makes.
struct Coverage {
  std::vector<std::string_view> kinds{};  ///< of call, that it makes for some datatype
  std::size_t pairs = 0;                  ///< of datatype and reduction, in one of these kinds
};

/// Small and large calls: a backend that makes only small ones does not count.
std::array<Coverage, 3> coverage_of(Operation operation, const std::vector<Pair>& pairs,
                                    const detail::Machine& machine) {
  std::array<Coverage, 3> coverage;
  for (const CallKind kind : {CallKind::blocking, CallKind::nonblocking, CallKind::persistent}) {
    std::array<std::size_t, 3> made{};
    for (const Pair& pair : pairs) {
      Signature signature;
      signature.operation = operation;
      signature.kind = kind;
      signature.type = pair.type;
      signature.op = pair.op;
      signature.count = operation == Operation::barrier ? 0 : 1;
      const auto small = can_make(signature, machine);
      signature.count = operation == Operation::barrier ? 0 : std::size_t{1} << 22U;
      const auto large = can_make(signature, machine);
      for (std::size_t b = 0; b < made.size(); ++b) made[b] += small[b] && large[b] ? 1U : 0U;
    }
    for (std::size_t b = 0; b < made.size(); ++b) {
      if (made[b] > 0) coverage[b].kinds.push_back(detail::tuning::call_kind_name(kind));
      coverage[b].pairs = std::max(coverage[b].pairs, made[b]);
    }
  }
  return coverage;
}

BackendCell cell_of(Backend backend, const Coverage& coverage, std::size_t pairs, const detail::Machine& machine) {
  if (backend == Backend::shm && !machine.shm) return {Support::absent, {}};
  if (coverage.pairs == 0) return {Support::none, {}};
  BackendCell cell{backend == Backend::mpi ? Support::composed : Support::native, {}};
  if (coverage.kinds.size() < 3) cell.limits = fmt::format("only {} calls", fmt::join(coverage.kinds, " and "));
  if (coverage.pairs < pairs)
    cell.limits += fmt::format("{}{} of {} pairs of datatype and reduction", cell.limits.empty() ? "" : "; ",
                               coverage.pairs, pairs);
  return cell;
}

/// Device buffers are refused by every call of this version.
std::vector<BackendCell> device_cells() { return {{}, {}, {}, {Support::not_built, {}}}; }

BackendTable::Row row_of(Operation operation, const detail::Machine& machine) {
  const std::vector<Pair> pairs = pairs_of(operation);
  const auto coverage = coverage_of(operation, pairs, machine);
  BackendTable::Row row{std::string(algorithms::operation_name(operation)), {}, device_cells()};
  for (std::size_t b = 0; b < backends.size(); ++b)
    row.host.push_back(cell_of(backends[b], coverage[b], pairs.size(), machine));
  row.host.push_back({Support::not_built, {}});
  return row;
}

BackendTable::Row point_to_point() {
  return {"send, recv", {{}, {Support::native, {}}, {}, {Support::not_built, {}}}, device_cells()};
}

std::vector<std::string> facts_of(const Surroundings& surroundings, const detail::Machine& machine) {
  std::vector<std::string> facts;
  std::istringstream summary(config_summary());
  for (std::string line; std::getline(summary, line);) facts.push_back(line);
  std::string shm = !machine.shm          ? "absent"
                    : machine.single_copy ? "with single copy between processes"
                                          : "without single copy between processes";
  if (!surroundings.shm_report.empty()) shm += " (" + surroundings.shm_report + ")";
  facts.push_back("shm: " + shm);
  facts.push_back(fmt::format("native: blocking calls choose it {}",
                              machine.oversubscribed ? "only by name: more ranks than processing units"
                                                     : "by name, or by the option native_blocking"));
  facts.emplace_back("nccl: not built; buffers in device memory are refused with an error");
  return facts;
}

}  // namespace

BackendTable backend_table(const Surroundings& surroundings) {
  const Case call(Signature{}, surroundings, 0);
  const detail::Machine machine = call.machine();
  BackendTable table;
  table.backends.assign(backend_names.begin(), backend_names.end());
  for (const Operation operation : detail::tuning::all_operations()) table.rows.push_back(row_of(operation, machine));
  table.rows.push_back(point_to_point());
  table.facts = facts_of(surroundings, machine);
  return table;
}

}  // namespace tutti::tools
