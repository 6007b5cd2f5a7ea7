// SPDX-License-Identifier: BSD-3-Clause
#include "backends/list.hpp"
#include "tools/question.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mpi.h>

#include <bit>
#include <cstdio>
#include <tutti/communicator.hpp>
#include <tutti/error.hpp>

#include "backends/nccl/table.hpp"
#include "backends/shm/xpmem.hpp"
#include "call/context.hpp"
#include "core/config.hpp"
#include "core/progress_hook.hpp"
#include "device/runtime.hpp"
#include "kernels/device/launcher.hpp"
#include "planner/calibration.hpp"
#include "planner/files.hpp"
#include "planner/remembered.hpp"
#include "tools/program.hpp"
#include "topology/place.hpp"

namespace tutti::tools {
namespace {

Surroundings of_job(const Question& question) {
  CommunicatorOptions options;
  options.native_blocking = question.native_blocking;
  const auto comm = Communicator::duplicate(MPI_COMM_WORLD, options);
  const detail::Context& state = *comm.state();
  Surroundings found;
  found.topology = comm.topology();
  const detail::Machine machine = state.machine();
  found.shm = machine.shared_memory || machine.node_memory.is_shared;
  found.single_copy = machine.single_copy || machine.node_memory.single_copy;
  found.costs = machine.costs;
  found.network = machine.network;
  found.costs_report = state.costs_report;
  found.mapped_copy = machine.mapped_copy || machine.node_memory.mapped_copy;
  found.progress_hook = machine.progress_hook;
  found.progress_report = state.progress_report;
  if (!machine.node_memory.is_shared) found.shm_report = state.report_of(detail::shm_backend);
  found.table = state.measured;
  found.table_report = state.measured_report;
  return found;
}

int units_of_this_machine(const detail::LocalPlace& place) {
  int units = 0;
  for (const auto word : place.units) units += std::popcount(word);
  return std::max(1, units);
}

/// Whether a job whose MPI is that of this process has a hook.
void find_hook(Surroundings& made) {
  const auto& found = detail::progress_hook::find();
  made.progress_hook = found.is_usable && detail::config().progress_hook;
  made.progress_report = detail::config().progress_hook ? found.text : "TUTTI_PROGRESS_HOOK=0";
}

/// The costs that a job on such nodes would find in the user's cache.
void find_costs(Surroundings& made) {
  made.costs_report = "the prior";
  if (detail::config().calibration == detail::CalibrationMode::off) return;
  const auto text = detail::tuning::read_file(detail::tuning::calibration_file());
  const auto costs = text ? detail::tuning::costs_in(*text, detail::tuning::key_of(made.topology)) : std::nullopt;
  if (!costs) return;
  made.costs = *costs;
  made.costs_report = "calibrated earlier, kept in the user's cache";
}

Surroundings imagined(const Question& question) {
  const int ranks = question.ranks > 0 ? question.ranks : std::max(2, world_size());
  const int nodes = std::max(1, question.nodes);
  if (nodes > ranks) throw UsageError(fmt::format("--nodes {} exceeds the number of ranks, {}", nodes, ranks));
  const detail::LocalPlace here = detail::local_place();
  Place pattern;
  pattern.numa = here.numa;
  pattern.l3 = here.l3;
  pattern.socket = here.socket;
  const int cores = question.cores > 0 ? question.cores : units_of_this_machine(here);
  Surroundings made;
  made.topology = imagined_topology(ranks, nodes, cores, pattern);
  made.topology.network_groups = imagined_groups(question.groups, nodes);
  if (!question.groups.empty()) made.topology.network_source = "--groups";
  find_costs(made);
  made.network = detail::find_network();
  find_hook(made);
  made.shm = detail::config().shared_memory;
  made.single_copy = detail::config().single_copy;
  std::string why;
  made.mapped_copy = made.single_copy && detail::shm::own_segment(why) != 0;
  if (!made.single_copy) made.shm_report = "TUTTI_SINGLE_COPY=0";
  if (!made.shm) made.shm_report = "TUTTI_SHM=0";
  if (nodes == ranks && nodes > 1) made.shm_report = "ranks on several nodes";
  return made;
}

std::vector<detail::tuning::Section> parse_table(const std::string& path, const std::string& text) {
  try {
    return detail::tuning::parse(text);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("--table {}: {}", path, error.what()));
  }
}

/// The measurements in a file for these numbers of ranks on each node, whatever machine they are from.
void read_table(const std::string& path, Surroundings& surroundings) {
  const auto text = detail::tuning::read_file(path);
  if (!text) throw Error(ErrorCode::io, fmt::format("--table {}: the file does not exist", path));
  std::vector<std::string> others;
  for (const auto& section : parse_table(path, *text)) {
    if (section.key.ranks_per_node == surroundings.topology.ranks_per_node) {
      surroundings.table = std::make_shared<const detail::tuning::Table>(section.cells, section.links);
      surroundings.table_report =
          fmt::format("{}: {} cells, measured on {}, {}", path, section.cells.size(), section.key.cpu, section.key.mpi);
      return;
    }
    others.push_back(fmt::format("{}", fmt::join(section.key.ranks_per_node, "+")));
  }
  throw Error(ErrorCode::io,
              fmt::format("--table {}: it has no measurements for {} ranks, only for {}", path,
                          fmt::join(surroundings.topology.ranks_per_node, "+"), fmt::join(others, ", ")));
}

void find_table(Surroundings& surroundings) {
  const auto finding = detail::tuning::find_table(surroundings.topology, false);
  surroundings.table_report = finding.report;
  if (finding.status == detail::tuning::Finding::Status::table)
    surroundings.table = detail::tuning::table_of(finding.text);
}

int parse_version(const std::string& text) {
  int major = 0;
  int minor = 0;
  int patch = 0;
  if (text == "none") return 0;
  if (std::sscanf(text.c_str(), "%d.%d.%d", &major, &minor, &patch) < 2 || major != 2 || minor < 18 || minor > 99)
    throw UsageError(fmt::format("--nccl {} is not a version from 2.18 on, like 2.28.9; pass a version or none", text));
  return major * 10000 + minor * 100 + patch;
}

/// The device facts that this library finds, or that the command line gives instead. Only a running job can find out,
/// by sending data, whether an MPI takes device memory.
DeviceFacts device_facts(const Question& question) {
  DeviceFacts facts;
  facts.built = detail::device::runtime() != nullptr;
  facts.kernels = !question.no_kernels && (kernels::device::has_kernels() || !question.nccl.empty());
  facts.cuda_aware = question.cuda_aware;
  if (const detail::nccl::Table* table = detail::nccl::table(facts.nccl_report)) facts.nccl_version = table->version;
  if (!question.nccl.empty()) facts.nccl_version = parse_version(question.nccl);
  return facts;
}

}  // namespace

Surroundings surroundings_of(const Question& question) {
  const bool is_job =
      question.ranks == 0 && question.nodes == 0 && question.cores == 0 && question.groups.empty() && world_size() > 1;
  Surroundings surroundings = is_job ? of_job(question) : imagined(question);
  surroundings.native_blocking = question.native_blocking;
  surroundings.device = device_facts(question);
  if (question.no_shm || question.no_single_copy) surroundings.shm_report = "left out by the command line";
  surroundings.shm = surroundings.shm && !question.no_shm;
  surroundings.single_copy = surroundings.single_copy && !question.no_single_copy;
  surroundings.mapped_copy = surroundings.mapped_copy && surroundings.single_copy;
  if (question.progress_hook || question.no_progress_hook) {
    surroundings.progress_hook = question.progress_hook;
    surroundings.progress_report = "assumed by the command line";
  }
  if (!question.table.empty()) {
    if (is_root()) read_table(question.table, surroundings);
  } else if (!is_job && is_root()) {
    find_table(surroundings);
  }
  return surroundings;
}

}  // namespace tutti::tools
