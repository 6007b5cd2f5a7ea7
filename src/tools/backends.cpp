// SPDX-License-Identifier: BSD-3-Clause
#include "tools/backends.hpp"
#include "backends/list.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <sstream>
#include <tutti/environment.hpp>

#include "backends/nccl/rules.hpp"
#include "backends/nccl/table.hpp"
#include "planner/names.hpp"
#include "planner/type_class.hpp"

namespace tutti::tools {
namespace {

using detail::Backend;
using detail::CallKind;
using detail::MemoryClass;
using detail::Signature;

const std::array<const Backend*, 5> backends = {&detail::shm_backend, &detail::mpi_backend, &detail::native_backend,
                                                &detail::nccl_backend, &detail::staged_backend};
constexpr std::array<std::string_view, 5> backend_names = {"shm", "mpi", "native", "nccl", "staged"};
constexpr std::size_t backend_count = backends.size();

struct Pair {
  Datatype type{};
  ReduceKind op = ReduceKind::sum;
};

/// The possible requests of an operation: all datatypes, and for one that combines each reduction defined for them.
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

/// The backends that can make a call, by their place in `backends`.
std::array<bool, backend_count> can_make(const Signature& signature, const detail::Machine& machine) {
  std::array<bool, backend_count> can{};
  for (const auto& candidate : detail::candidates(signature, machine))
    for (std::size_t b = 0; b < backends.size(); ++b)
      can[b] = can[b] || (candidate.backend == backends[b] && candidate.nameable);
  return can;
}

/// The share of the possible requests that a backend makes.
struct Coverage {
  std::vector<std::string_view> kinds{};  ///< kinds of call that it makes for some datatype
  std::size_t pairs = 0;                  ///< pairs of datatype and reduction that it makes in one of these kinds
};

/// Small and large calls. A backend that makes only small ones does not count.
std::array<Coverage, backend_count> coverage_of(Operation operation, MemoryClass memory, const std::vector<Pair>& pairs,
                                                const detail::Machine& machine) {
  std::array<Coverage, backend_count> coverage;
  for (const CallKind kind : {CallKind::blocking, CallKind::nonblocking, CallKind::persistent}) {
    std::array<std::size_t, backend_count> made{};
    for (const Pair& pair : pairs) {
      Signature signature;
      signature.operation = operation;
      signature.kind = kind;
      signature.memory = memory;
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

BackendCell covered(Support support, const Coverage& coverage, std::size_t pairs) {
  if (coverage.pairs == 0) return {Support::none, {}};
  BackendCell cell{support, {}};
  if (coverage.kinds.size() < 3) cell.limits = fmt::format("only {} calls", fmt::join(coverage.kinds, " and "));
  if (coverage.pairs < pairs)
    cell.limits += fmt::format("{}{} of {} pairs of datatype and reduction", cell.limits.empty() ? "" : "; ",
                               coverage.pairs, pairs);
  return cell;
}

BackendCell host_cell(const Backend* backend, const Coverage& coverage, std::size_t pairs,
                      const detail::Machine& machine) {
  if (backend == &detail::shm_backend && !machine.shared_memory) return {Support::absent, {}};
  return covered(backend == &detail::mpi_backend ? Support::composed : Support::native, coverage, pairs);
}

/// Whether NCCL has a collective for this. Otherwise it is composed of groups of messages.
bool is_native_there(Operation operation, const detail::Machine& machine) {
  Signature signature;
  signature.operation = operation;
  signature.memory = MemoryClass::device;
  signature.type = DatatypeKind::float32;
  return detail::nccl::is_direct(signature, machine.nccl_version);
}

BackendCell device_cell(const Backend* backend, Operation operation, const Coverage& coverage, std::size_t pairs,
                        const detail::Machine& machine, const DeviceFacts& facts) {
  if (backend == &detail::shm_backend || backend == &detail::native_backend) return {Support::none, {}};
  if (!facts.built && facts.nccl_version == 0) return {Support::not_built, {}};
  if (backend == &detail::nccl_backend && machine.nccl_version == 0) return {Support::absent, {}};
  if (backend == &detail::staged_backend) return covered(Support::staged, coverage, pairs);
  const bool is_native = backend == &detail::nccl_backend && is_native_there(operation, machine);
  return covered(is_native ? Support::native : Support::composed, coverage, pairs);
}

BackendTable::Row row_of(Operation operation, const detail::Machine& machine, const DeviceFacts& facts) {
  const std::vector<Pair> pairs = pairs_of(operation);
  const auto on_host = coverage_of(operation, MemoryClass::host, pairs, machine);
  const auto on_device = coverage_of(operation, MemoryClass::device, pairs, machine);
  BackendTable::Row row{std::string(operation_name(operation)), {}, {}};
  for (std::size_t b = 0; b < backend_count; ++b) {
    row.host.push_back(host_cell(backends[b], on_host[b], pairs.size(), machine));
    row.device.push_back(device_cell(backends[b], operation, on_device[b], pairs.size(), machine, facts));
  }
  return row;
}

/// MPI carries messages in every memory, directly if it takes device memory and no NCCL work is in flight.
BackendTable::Row point_to_point(const DeviceFacts& facts) {
  BackendTable::Row row{"send, recv", std::vector<BackendCell>(backend_count), std::vector<BackendCell>(backend_count)};
  row.host[1].support = Support::native;
  row.device[1].support = facts.built ? Support::native : Support::not_built;
  row.device[4].support = facts.built ? Support::staged : Support::not_built;
  return row;
}

std::vector<std::string> facts_of(const Surroundings& surroundings, const detail::Machine& machine) {
  std::vector<std::string> facts;
  std::istringstream summary(config_summary());
  for (std::string line; std::getline(summary, line);) facts.push_back(line);
  std::string shm = !machine.shared_memory ? "absent"
                    : machine.mapped_copy  ? "with single copy between processes, by XPMEM"
                    : machine.single_copy  ? "with single copy between processes"
                                           : "without single copy between processes";
  if (!surroundings.shm_report.empty()) shm += " (" + surroundings.shm_report + ")";
  facts.push_back("shm: " + shm);
  facts.push_back(fmt::format("native: blocking calls choose it {}",
                              machine.oversubscribed ? "only by name: more ranks than processing units"
                                                     : "by name, or by the option native_blocking"));
  const DeviceFacts& device = surroundings.device;
  facts.push_back("device memory: " + std::string(!device.built    ? "not built; refused with an error"
                                                  : device.kernels ? "reductions by kernels"
                                                                   : "reductions that NCCL lacks run on the host"));
  facts.push_back("nccl: " +
                  (device.nccl_version == 0 ? device.nccl_report : detail::nccl::version_text(device.nccl_version)));
  return facts;
}

}  // namespace

BackendTable backend_table(const Surroundings& surroundings) {
  const Case call(Signature{}, surroundings, 0);
  const detail::Machine machine = call.machine();
  BackendTable table;
  table.backends.assign(backend_names.begin(), backend_names.end());
  for (const Operation operation : all_operations)
    table.rows.push_back(row_of(operation, machine, surroundings.device));
  table.rows.push_back(point_to_point(surroundings.device));
  table.facts = facts_of(surroundings, machine);
  return table;
}

}  // namespace tutti::tools
