// SPDX-License-Identifier: BSD-3-Clause
#include "tools/question.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <sstream>

#include "planner/names.hpp"
#include "planner/type_class.hpp"
#include "schedules/layout.hpp"
#include "tools/program.hpp"
#include "tools/units.hpp"

namespace tutti::tools {
namespace {

using detail::CallKind;
using detail::Signature;

[[noreturn]] void throw_unknown(std::string_view what, std::string_view given, std::vector<std::string> valid) {
  valid = detail::tuning::nearest_first(std::move(valid), given);
  throw UsageError(fmt::format("there is no {} '{}': did you mean '{}'? Valid: {}", what, given, valid.front(),
                               fmt::join(valid, ", ")));
}

Operation operation_of(const std::string& name) {
  Operation operation{};
  if (detail::tuning::find_operation(name, operation)) return operation;
  std::vector<std::string> valid;
  for (const Operation one : all_operations) valid.emplace_back(operation_name(one));
  throw_unknown("operation", name, std::move(valid));
}

CallKind kind_of(const std::string& name) {
  CallKind kind{};
  if (detail::tuning::find_call_kind(name, kind)) return kind;
  throw_unknown("kind of call", name, {"blocking", "nonblocking", "persistent"});
}

Datatype type_of(const std::string& name) {
  std::vector<std::string> valid;
  for (int i = static_cast<int>(DatatypeKind::int8); i <= static_cast<int>(DatatypeKind::bytes); ++i) {
    const auto kind = static_cast<DatatypeKind>(i);
    if (name == datatype_name(kind)) return kind;
    valid.emplace_back(datatype_name(kind));
  }
  throw_unknown("datatype", name, std::move(valid));
}

ReduceKind op_of(const std::string& name) {
  std::vector<std::string> valid;
  for (int i = static_cast<int>(ReduceKind::sum); i <= static_cast<int>(ReduceKind::user); ++i) {
    const auto kind = static_cast<ReduceKind>(i);
    if (name == reduce_op_name(kind)) return kind;
    valid.emplace_back(reduce_op_name(kind));
  }
  throw_unknown("reduction", name, std::move(valid));
}

detail::MemoryClass memory_of(const std::string& name) {
  if (name == "host") return detail::MemoryClass::host;
  if (name == "device") return detail::MemoryClass::device;
  throw_unknown("memory", name, {"host", "device"});
}

void check_op(ReduceKind op, DatatypeKind type) {
  if (is_defined(op, type)) return;
  std::vector<std::string> valid;
  for (int i = static_cast<int>(ReduceKind::sum); i <= static_cast<int>(ReduceKind::user); ++i)
    if (is_defined(static_cast<ReduceKind>(i), type)) valid.emplace_back(reduce_op_name(static_cast<ReduceKind>(i)));
  throw UsageError(fmt::format("{} is not defined for {}; valid: {}", reduce_op_name(op), datatype_name(type),
                               fmt::join(valid, ", ")));
}

/// The count of a signature whose blocks all have `count` elements.
std::size_t signature_count(Operation operation, std::size_t count, int ranks) {
  if (operation == Operation::barrier || has_hidden_size(operation)) return 0;
  return has_shared_counts(operation) ? count * static_cast<std::size_t>(ranks) : count;
}

/// Counts and displacements of blocks of one size, for all uses of a problem.
struct EvenBlocks {
  EvenBlocks(std::size_t count, int size) : counts(static_cast<std::size_t>(size), count), displs(counts.size(), 0) {
    std::exclusive_scan(counts.begin(), counts.end(), displs.begin(), std::size_t{0});
  }
  std::vector<std::size_t> counts;
  std::vector<std::size_t> displs;
};

void set_blocks(schedules::Problem& problem, Operation operation, const EvenBlocks& blocks) {
  const bool is_root = problem.rank == problem.root;
  problem.send_count = blocks.counts.front();
  problem.recv_count = blocks.counts.front();
  const OperationTraits& row = traits_of(operation);
  if (row.given == BlockKind::counted && has_input(operation, is_root) && !row.combines()) {
    problem.send_counts = blocks.counts;
    problem.send_displs = blocks.displs;
  }
  if (row.combines() || (row.taken == BlockKind::counted && has_output(operation, is_root))) {
    problem.recv_counts = blocks.counts;
    problem.recv_displs = blocks.displs;
  }
}

}  // namespace

Case::Case(Signature what, Surroundings where, int of_rank)
    : signature(std::move(what)),
      surroundings(std::move(where)),
      fabric(fabric_of(surroundings.table.get(), surroundings.topology)),
      rank(of_rank) {
  if (surroundings.topology.nodes > 1) node_of = schedules::NodeMap(detail::nodes_of(surroundings.topology));
}

detail::Machine Case::machine() const {
  detail::Machine machine;
  machine.rank = rank;
  machine.size = size();
  machine.oversubscribed = surroundings.topology.oversubscribed;
  machine.several_nodes = surroundings.topology.nodes > 1;
  machine.native_blocking = surroundings.native_blocking;
  machine.shared_memory = surroundings.shm && !machine.several_nodes;
  machine.single_copy = surroundings.single_copy && machine.shared_memory;
  machine.mapped_copy = surroundings.mapped_copy && machine.shared_memory;
  if (machine.several_nodes && machine.size > surroundings.topology.nodes && surroundings.shm)
    machine.node_memory = {true, surroundings.single_copy, surroundings.mapped_copy};
  if (machine.several_nodes) machine.node_of = &node_of;
  machine.costs = surroundings.costs;
  machine.network = surroundings.network;
  machine.progress_hook = surroundings.progress_hook;
  machine.measured = surroundings.table.get();
  machine.fabric = &fabric;
  machine.places = surroundings.topology.places;
  machine.on_node = detail::level_on_node(surroundings.topology);
  machine.device_prepared = true;
  machine.device_kernels = surroundings.device.kernels;
  machine.cuda_aware = surroundings.device.cuda_aware;
  machine.nccl_version = surroundings.device.nccl_version;
  return machine;
}

std::size_t elements_of(const Question& question, Datatype type) {
  const std::size_t bytes = parse_bytes(question.bytes);
  if (bytes % type.size() != 0)
    throw UsageError(fmt::format("--bytes {} is not a multiple of the {} bytes of a {}", question.bytes, type.size(),
                                 question.type));
  return bytes / type.size();
}

Signature signature_of(const Question& question, int ranks) {
  Signature signature;
  signature.operation = operation_of(question.operation);
  signature.kind = kind_of(question.kind);
  signature.type = type_of(question.type);
  signature.memory = memory_of(question.memory);
  if (combines(signature.operation)) {
    signature.op = op_of(question.op);
    check_op(signature.op, signature.type.kind());
  }
  signature.reproducible = question.reproducible;
  signature.algorithm = question.algorithm;
  if (question.root < 0 || question.root >= ranks)
    throw UsageError(fmt::format("--root {} is not a rank: there are {} ranks, from 0", question.root, ranks));
  if (question.rank < 0 || question.rank >= ranks)
    throw UsageError(fmt::format("--rank {} is not a rank: there are {} ranks, from 0", question.rank, ranks));
  signature.root = has_root(signature.operation) ? question.root : 0;
  signature.count = signature_count(signature.operation, elements_of(question, signature.type), ranks);
  return signature;
}

Topology imagined_topology(int ranks, int nodes, int cores, const Place& pattern) {
  Topology topology;
  topology.nodes = nodes;
  topology.ranks_per_node.assign(static_cast<std::size_t>(nodes), 0);
  topology.cores_per_node.assign(static_cast<std::size_t>(nodes), cores);
  for (int i = 0; i < nodes; ++i) topology.host_names.push_back(fmt::format("node{}", i));
  for (int rank = 0; rank < ranks; ++rank) {
    Place place = pattern;
    place.node = static_cast<int>(static_cast<long>(rank) * nodes / ranks);
    place.local_rank = topology.ranks_per_node[static_cast<std::size_t>(place.node)]++;
    place.cores_allowed = cores;
    topology.places.push_back(place);
  }
  for (const int count : topology.ranks_per_node) topology.oversubscribed = topology.oversubscribed || count > cores;
  return topology;
}

std::vector<std::vector<int>> imagined_groups(const std::string& sizes, int nodes) {
  std::vector<std::vector<int>> groups;
  std::istringstream words(sizes);
  int larger = 0;
  for (std::string word; std::getline(words, word, ',');) {
    int size = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), size);
    const bool is_number = error == std::errc() && end == word.data() + word.size() && size > 0;
    if (!is_number || (larger > 0 && larger % size != 0) || groups.size() == detail::Fabric::most_groups)
      throw UsageError(
          fmt::format("--groups {}: '{}' is no number of nodes that fills the groups before it; up to {} "
                      "numbers, such as 32,8",
                      sizes, word, detail::Fabric::most_groups));
    larger = size;
    std::vector<int>& level = groups.emplace_back();
    for (int node = 0; node < nodes; ++node) level.push_back(node / size);
  }
  return groups;
}

std::string network_text(const Topology& topology) {
  if (topology.network_groups.empty()) return "no groups of nodes are known";
  std::string text = fmt::format("groups of nodes by {}", topology.network_source);
  const char* separator = ": ";
  for (const std::vector<int>& level : topology.network_groups) {
    std::vector<int> nodes(level.size(), 0);
    for (const int group : level) ++nodes[static_cast<std::size_t>(group)];
    text += fmt::format("{}{} of up to {}", separator, std::ranges::max(level) + 1, std::ranges::max(nodes));
    separator = ", ";
  }
  return text;
}

namespace {

std::string fabric_text(const detail::Fabric& fabric) {
  const std::size_t distances = detail::distances_of(fabric);
  if (distances == 0) return "";
  std::string text = "; all nodes at once, by distance";
  for (std::size_t digit = 0; digit < distances; ++digit)
    text += fmt::format(" {}: {:.2g} us, {:.3g} GB/s,", 1UL << digit, fabric.at[digit].latency * 1e6,
                        fabric.at[digit].rate * 1e-9);
  return text + fmt::format(" all: {:.3g} GB/s", fabric.everywhere * 1e-9);
}

}  // namespace

std::string links_text(const Case& call) {
  const detail::Machine machine = call.machine();
  const bool measured = machine.measured != nullptr && machine.measured->links() != nullptr;
  const detail::Links links = links_of(machine);
  const auto text_of = [&links](detail::LinkLevel level) {
    const detail::Link& link = links[level];
    return fmt::format("{} {:.2g} us, {:.3g} GB/s", detail::link_level_names[static_cast<std::size_t>(level)],
                       link.latency * 1e6, link.rate * 1e-9);
  };
  std::string text = measured ? "measured" : "of the costs";
  if (!measured && machine.several_nodes)
    text += fmt::format(" and vendors' figures ({})", detail::text_of(machine.network));
  text += ": " + text_of(machine.on_node);
  return machine.several_nodes ? text + "; " + text_of(detail::LinkLevel::network) + fabric_text(links.fabric) : text;
}

std::string call_text(const Case& call) {
  const Signature& signature = call.signature;
  std::string text(operation_name(signature.operation));
  if (signature.count > 0)
    text +=
        fmt::format(" of {} ({} {}{}{})", bytes_text(static_cast<double>(signature.count * signature.type.size())),
                    signature.count, datatype_name(signature.type.kind()), combines(signature.operation) ? ", " : "",
                    combines(signature.operation) ? reduce_op_name(signature.op) : "");
  text += fmt::format(", {}", detail::tuning::call_kind_name(signature.kind));
  if (signature.reproducible) text += ", reproducible";
  if (signature.memory == detail::MemoryClass::device) text += ", in device memory";
  if (has_root(signature.operation)) text += fmt::format(", root {}", signature.root);
  const int nodes = call.surroundings.topology.nodes;
  return text + fmt::format(", on {} rank{} of {} node{}", call.size(), call.size() == 1 ? "" : "s", nodes,
                            nodes == 1 ? "" : "s");
}

schedules::Schedule schedule_of(const Case& call, const schedules::Algorithm& algorithm, int rank) {
  const Operation operation = call.signature.operation;
  const std::size_t block = has_shared_counts(operation) ? call.signature.count / static_cast<std::size_t>(call.size())
                            : call.signature.count == 0  ? call.block
                                                         : call.signature.count;
  const EvenBlocks blocks(block, call.size());
  schedules::Problem problem;
  problem.rank = rank;
  problem.size = call.size();
  problem.root = call.signature.root;
  problem.count = call.signature.count;
  problem.element_size = call.signature.type.size();
  problem.node_of = &call.node_of;
  const detail::Machine machine = call.machine();
  const detail::Links links = links_of(machine);
  problem.starts = starts_of(links, machine, call.signature);
  problem.shares_nodes = exchanges_on_nodes(call.signature, machine.node_memory);
  problem.joined_bytes = joined_bytes(links);
  set_blocks(problem, operation, blocks);
  // What the ranks of its node have told one another, where all blocks have one size.
  std::vector<std::size_t> told;
  if (algorithm.tells_counts) {
    const auto ranks = static_cast<std::size_t>(schedules::Layout(problem).node_size());
    told.assign(ranks * schedules::told_by_rank(operation, call.size()), block);
  }
  problem.told = told;
  return algorithm.generate(problem);
}

std::vector<schedules::Schedule> schedules_of(const Case& call, const schedules::Algorithm& algorithm) {
  std::vector<schedules::Schedule> schedules;
  for (int rank = 0; rank < call.size(); ++rank) schedules.push_back(schedule_of(call, algorithm, rank));
  return schedules;
}

}  // namespace tutti::tools
