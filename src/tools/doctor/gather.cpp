// SPDX-License-Identifier: BSD-3-Clause
#include "tools/doctor/gather.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <limits>
#include <tutti/error.hpp>

#include "call/context.hpp"
#include "common/command_line/launcher.hpp"
#include "core/mpi_call.hpp"
#include "planner/files.hpp"
#include "tools/program.hpp"
#include "tools/topo.hpp"
#include "topology/discover.hpp"

#include "backends/list.hpp"

namespace tutti::tools::doctor {
namespace {

constexpr int root = 0;

int own_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

std::string mpi_library() {
  char library[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(library, &length);
  std::string line(library, static_cast<std::size_t>(length));
  line.resize(std::min(line.size(), line.find('\n')));
  std::ranges::replace(line, '\t', ' ');
  return line;
}

std::string hardware_here() {
  try {
    return hardware_to_json(detail::this_machine());
  } catch (const Error&) {
    return {};  // rules that count cores then find nothing
  }
}

detail::Hardware hardware_of(const Job& job) {
  std::vector<detail::Hardware> nodes;
  for (const RankFacts& facts : job.ranks) {
    const bool is_first = job.topology.places[static_cast<std::size_t>(&facts - job.ranks.data())].local_rank == 0;
    if (is_first) nodes.push_back(facts.hardware.empty() ? detail::Hardware{} : hardware_from_json(facts.hardware));
  }
  return detail::join_nodes(nodes, job.topology);
}

NetworkView network_of(const Job& job) {
  NetworkView network{job.topology.host_names, {}, job.topology.network_source};
  for (std::size_t rank = 0; rank < job.ranks.size(); ++rank)
    if (job.topology.places[rank].local_rank == 0) network.paths.push_back(paths_from_json(job.ranks[rank].network));
  return network;
}

Tuning tuning_of(const Topology& topology) {
  namespace tuning = detail::tuning;
  const tuning::Finding found = tuning::find_table(topology, topology.places.size() == 1);
  using Status = tuning::Finding::Status;
  return {found.status == Status::table     ? Tuning::Status::found
          : found.status == Status::refused ? Tuning::Status::refused
                                            : Tuning::Status::none,
          found.report};
}

void broadcast(void* data, int bytes, int from) {
  MPI_Request request = MPI_REQUEST_NULL;
  detail::check_mpi(MPI_Ibcast(data, bytes, MPI_BYTE, from, MPI_COMM_WORLD, &request), "MPI_Ibcast");
  detail::wait_yielding(request, "MPI_Ibcast");
}

/// Communicators that some rank could not make, kept until MPI_Finalize: to free one is collective.
void keep(Communicator&& comm) {
  static std::vector<Communicator> kept;
  kept.push_back(std::move(comm));
}

void describe(const Communicator& comm, Made& made) {
  const detail::Context& state = *comm.state();
  const detail::Machine machine = state.machine();
  made.is_made = true;
  made.shared_memory = machine.shared_memory;
  made.single_copy = machine.single_copy || machine.mapped_copy;
  made.shm_report = state.report_of(detail::shm_backend);
  made.costs_report = state.costs_report;
  made.progress_hook = state.progress_hook;
  made.progress_report = state.progress_report;
}

}  // namespace

std::vector<std::string> gather_texts(const std::string& own) {
  const auto size = static_cast<std::size_t>(world_size());
  const int length = static_cast<int>(own.size());
  std::vector<int> lengths(size);
  MPI_Request request = MPI_REQUEST_NULL;
  detail::check_mpi(MPI_Igather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, root, MPI_COMM_WORLD, &request),
                    "MPI_Igather");
  detail::wait_yielding(request, "MPI_Igather");
  std::vector<int> offsets(size, 0);
  for (std::size_t i = 1; i < size; ++i) offsets[i] = offsets[i - 1] + lengths[i - 1];
  std::string all(is_root() ? static_cast<std::size_t>(offsets.back() + lengths.back()) : 0, ' ');
  detail::check_mpi(MPI_Igatherv(own.data(), length, MPI_CHAR, all.data(), lengths.data(), offsets.data(), MPI_CHAR,
                                 root, MPI_COMM_WORLD, &request),
                    "MPI_Igatherv");
  detail::wait_yielding(request, "MPI_Igatherv");
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < size && is_root(); ++i)
    texts.push_back(all.substr(static_cast<std::size_t>(offsets[i]), static_cast<std::size_t>(lengths[i])));
  return texts;
}

void take_greatest(std::vector<double>& numbers) {
  MPI_Request request = MPI_REQUEST_NULL;
  detail::check_mpi(MPI_Iallreduce(MPI_IN_PLACE, numbers.data(), static_cast<int>(numbers.size()), MPI_DOUBLE, MPI_MAX,
                                   MPI_COMM_WORLD, &request),
                    "MPI_Iallreduce");
  detail::wait_yielding(request, "MPI_Iallreduce");
}

void meet() {
  MPI_Request request = MPI_REQUEST_NULL;
  detail::check_mpi(MPI_Ibarrier(MPI_COMM_WORLD, &request), "MPI_Ibarrier");
  detail::wait_yielding(request, "MPI_Ibarrier");
}

std::string first_problem(const std::string& own) {
  const int size = world_size();
  std::vector<double> lowest{own.empty() ? -static_cast<double>(size) : -static_cast<double>(own_rank())};
  take_greatest(lowest);
  const int rank = static_cast<int>(-lowest[0]);
  if (rank == size) return {};
  int length = static_cast<int>(own.size());
  broadcast(&length, sizeof length, rank);
  std::string text = own;
  text.resize(static_cast<std::size_t>(length));
  broadcast(text.data(), length, rank);
  return fmt::format("rank {}: {}", rank, text);
}

int from_root(int number) {
  broadcast(&number, sizeof number, root);
  return number;
}

Job gather_job(RankFacts own) {
  Job job;
  job.mpi = mpi_library();
  if (const auto launch = command_line::launch_of_several(); launch && world_size() == 1)
    job.launcher = {launch->launcher, launch->variable, launch->processes};
  job.topology = detail::discover_topology(MPI_COMM_WORLD);
  if (job.topology.places[static_cast<std::size_t>(own_rank())].local_rank == 0) {
    own.hardware = hardware_here();
    own.network = paths_to_json(detail::network_paths());
  }
  for (const std::string& text : gather_texts(facts_to_json(own))) job.ranks.push_back(facts_from_json(text));
  if (!is_root()) return job;
  job.hardware = hardware_of(job);
  job.network = network_of(job);
  job.tuning = tuning_of(job.topology);
  return job;
}

Communicator make_communicator(Made& made) {
  // A path that hangs is found by it. It forbids blocking calls that wait inside the host MPI, which are not the usual.
  constexpr std::chrono::seconds longest{30};
  CommunicatorOptions options;
  options.timeout = longest;
  options.name = "doctor";
  Communicator comm;
  std::string problem;
  try {
    comm = Communicator::duplicate(MPI_COMM_WORLD, options);
  } catch (const std::exception& error) {
    problem = error.what();
  }
  made.problem = first_problem(problem);
  if (made.problem.empty()) {
    describe(comm, made);
  } else if (comm.valid()) {
    keep(std::move(comm));
    comm = {};
  }
  return comm;
}

void prepare_device(const Communicator& comm, const RankFacts& own, Made& made) {
  std::vector<double> lacks{own.device.count > 0 && own.device.problem.empty() ? 0.0 : 1.0};
  take_greatest(lacks);
  if (lacks[0] > 0) return;
  std::string problem;
  try {
    comm.prepare_device();
  } catch (const std::exception& error) {
    problem = error.what();
  }
  problem = first_problem(problem);
  const detail::Machine machine = comm.state()->machine();
  made.device_prepared = problem.empty() && machine.device_prepared;
  made.cuda_aware = machine.cuda_aware;
  made.nccl_version = machine.nccl_version;
  made.device_report = problem.empty() ? comm.device_report() : problem;
}

}  // namespace tutti::tools::doctor
