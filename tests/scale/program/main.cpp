// SPDX-License-Identifier: BSD-3-Clause
// The program of the study, which smpirun starts as all ranks of a simulated cluster: study.py.
//
//   tutti_scale links PER_NODE     measures the links of the cluster as `tutti tune --links` does
//   tutti_scale fabric PER_NODE [GROUPS]    the same of all nodes at once, and of groups of so many nodes of the
//                                           cluster, the largest first: 128,4
//   tutti_scale CALLS PER_NODE THROUGH NODE... ACROSS... [data]    times each call of the file CALLS
//
// NODE and ACROSS are the numbers of a schedules::LevelPace, on a node and between nodes.
// Without `data` it is a replay: messages have sizes and no content. With it, results are compared with those of the
// simulated MPI.
#include <mpi.h>
#include <simgrid/actor.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "composed.hpp"
#include "machine.hpp"
#include "player.hpp"
#include "schedules/registry.hpp"
#include "selector.hpp"
#include "tools/link_measurement.hpp"

namespace tutti::scale {
namespace {

struct Arguments {
  std::string calls;
  std::string groups;
  int per_node;
  schedules::Starts starts;
  bool has_data;
};

/// Has the simulated MPI make what it makes once: a call with data, because it cannot be made in a replay.
void warm_up(int ranks) {
  std::vector<float> in(static_cast<std::size_t>(ranks), 1);
  std::vector<float> out(in.size());
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Bcast(out.data(), 1, MPI_FLOAT, 0, MPI_COMM_WORLD);
  MPI_Reduce(in.data(), out.data(), 1, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Allreduce(in.data(), out.data(), 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allgather(in.data(), 1, MPI_FLOAT, out.data(), 1, MPI_FLOAT, MPI_COMM_WORLD);
}

/// Messages have sizes and no content from now on.
void replay() {
  const char* rank = sg_actor_get_property_value(sg_actor_self(), "rank");
  const std::string instance = sg_actor_get_property_value(sg_actor_self(), "instance_id");
  smpi_replay_init(instance.c_str(), std::atoi(rank), 0);
}

double timed_composed(const std::vector<std::vector<Part>>& steps, Machine& machine) {
  return machine.time_of([&] {
    for (const std::vector<Part>& step : steps) play_together(step);
  });
}

double timed(const Call& call, Machine& machine, int rank, const Buffers& buffers) {
  if (call.is_of_selector()) return machine.time_of([&] { call_mpi(call, machine.ranks(), buffers); });
  if (is_composed(call)) return timed_composed(composed_steps(call, machine, rank, buffers, buffers.output), machine);
  const schedules::Schedule schedule = schedule_of(call, machine, rank);
  return machine.time_of([&] { play({schedule, buffers}); });
}

/// Memory with data: small whole numbers, so that sums are exact.
struct Memory {
  Memory(const Call& call, int ranks, int rank, std::size_t scratch_count)
      : input(extent_of(call, ranks).input), output(extent_of(call, ranks).output, -1), scratch(scratch_count, -2) {
    for (std::size_t i = 0; i < input.size(); ++i)
      input[i] = static_cast<float>((i + 3 * static_cast<std::size_t>(rank)) % 17);
    if (call.operation == Operation::bcast && rank == 0) output = input;
  }
  [[nodiscard]] Buffers buffers() { return {input.data(), output.data(), scratch.data(), true}; }
  std::vector<float> input;
  std::vector<float> output;
  std::vector<float> scratch;
};

double timed_composed(const Call& call, Machine& machine, int rank, Memory& memory) {
  const std::size_t longest = std::max(memory.input.size(), memory.output.size());
  std::vector<float> between(std::max<std::size_t>(1, longest * static_cast<std::size_t>(machine.node_of().most())),
                             -3);
  std::vector<std::vector<Part>> steps = composed_steps(call, machine, rank, memory.buffers(), between.data());
  std::vector<std::vector<float>> scratch;
  for (std::vector<Part>& step : steps)
    for (Part& part : step) part.buffers.scratch = scratch.emplace_back(part.schedule.scratch_count, -2).data();
  return timed_composed(steps, machine);
}

/// Throws where a rank's result is not that of the simulated MPI.
double checked(const Call& call, Machine& machine, int rank) {
  Memory expected(call, machine.ranks(), rank, 0);
  const double seconds_of_mpi = machine.time_of([&] { call_mpi(call, machine.ranks(), expected.buffers()); });
  if (call.is_of_selector()) return seconds_of_mpi;
  const schedules::Schedule schedule = is_composed(call) ? schedules::Schedule{} : schedule_of(call, machine, rank);
  Memory memory(call, machine.ranks(), rank, schedule.scratch_count);
  const double seconds = is_composed(call) ? timed_composed(call, machine, rank, memory) : machine.time_of([&] {
    play({schedule, memory.buffers()});
  });
  const bool has_result = !tutti::has_root(call.operation) || rank == 0 || call.operation == Operation::bcast ||
                          call.operation == Operation::scatter;
  const bool is_unwritten = call.operation == Operation::exscan && rank == 0;
  if (has_result && !is_unwritten && memory.output != expected.output)
    throw std::runtime_error("wrong result of " + call.way + " on rank " + std::to_string(rank));
  return seconds;
}

void time_calls(const Arguments& arguments, Machine& machine, int rank) {
  warm_up(machine.ranks());
  machine.meet();
  if (!arguments.has_data) replay();
  machine.meet();
  std::ifstream lines(arguments.calls);
  const std::vector<Call> calls = read_calls(lines);
  auto* nowhere = reinterpret_cast<float*>(untouched_memory());
  for (const Call& call : calls) {
    const double seconds =
        arguments.has_data ? checked(call, machine, rank) : timed(call, machine, rank, {nowhere, nowhere, nowhere});
    if (rank != 0) continue;
    std::printf("%s %zu %s %.9g\n", std::string(operation_name(call.operation)).c_str(), call.bytes, call.way.c_str(),
                seconds);
    std::fflush(stdout);
  }
}

std::vector<Place> places_of(const Machine& machine) {
  std::vector<Place> places(static_cast<std::size_t>(machine.ranks()));
  for (std::size_t i = 0; i < places.size(); ++i) places[i].node = machine.node_of().node(static_cast<int>(i));
  return places;
}

/// The numbers that the simulated nodes have in the names of their hosts.
std::vector<int> numbers_of_nodes(const Machine& machine) {
  char name[MPI_MAX_PROCESSOR_NAME] = {};
  int length = 0;
  MPI_Get_processor_name(name, &length);
  const int own = std::atoi(std::string(name).substr(std::string("node").size()).c_str());
  std::vector<int> all(static_cast<std::size_t>(machine.ranks()));
  MPI_Allgather(&own, 1, MPI_INT, all.data(), 1, MPI_INT, MPI_COMM_WORLD);
  std::vector<int> numbers;
  for (int rank = 0; rank < machine.ranks(); rank += machine.node_of().most())
    numbers.push_back(all[static_cast<std::size_t>(rank)]);
  return numbers;
}

detail::NetworkLevels groups_of(const Machine& machine, const std::string& sizes) {
  detail::NetworkLevels groups;
  std::istringstream words(sizes);
  for (std::string word; std::getline(words, word, ',');) {
    groups.emplace_back();
    for (const int number : numbers_of_nodes(machine)) groups.back().push_back(number / std::atoi(word.c_str()));
  }
  return groups;
}

void print_groups(const detail::Fabric& fabric) {
  std::printf("groups %zu", fabric.by_group.size());
  for (const detail::Fabric::Group& group : fabric.by_group)
    std::printf(" %.6g %.6g %.6g", group.latency, group.between, group.leaving);
  std::printf(" %.6g\n", fabric.within_group);
}

void print_fabric(const Machine& machine, const std::string& sizes, int rank) {
  detail::Fabric fabric = tools::measure_fabric(MPI_COMM_WORLD, places_of(machine), {1, 1});
  tools::measure_groups(MPI_COMM_WORLD, places_of(machine), groups_of(machine, sizes), fabric, {1, 1});
  if (rank != 0 || detail::distances_of(fabric) == 0) return;
  std::printf("fabric %zu", detail::distances_of(fabric));
  for (std::size_t i = 0; i < detail::distances_of(fabric); ++i)
    std::printf(" %.6g %.6g", fabric.at[i].latency, fabric.at[i].rate);
  std::printf(" %.6g\n", fabric.everywhere);
  if (is_measured_by_group(fabric)) print_groups(fabric);
}

void print_links(const Machine& machine, int rank) {
  const std::vector<tools::LinkMeasurement> measured = tools::measure_links(MPI_COMM_WORLD, places_of(machine), {1, 1});
  for (const tools::LinkMeasurement& one : measured) {
    if (rank != 0) continue;
    std::printf("%s", std::string(detail::link_level_names[static_cast<std::size_t>(one.level)]).c_str());
    for (const detail::LinkFigure& figure : detail::link_figures) std::printf(" %.6g", one.link.*figure.value);
    std::printf("\n");
  }
}

void run(const Arguments& arguments) {
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Machine& machine = Machine::of(ranks, arguments.per_node, arguments.starts);
  if (rank == 0) use_model();
  machine.meet();
  if (arguments.calls == "links")
    print_links(machine, rank);
  else if (arguments.calls == "fabric")
    print_fabric(machine, arguments.groups, rank);
  else
    time_calls(arguments, machine, rank);
}

constexpr int pace_words = 7 + 2 * static_cast<int>(schedules::flows);

schedules::LevelPace pace_of(char** words) {
  schedules::LevelPace pace{std::atof(words[0]), std::atof(words[1]), std::atof(words[2]), std::atof(words[3]),
                            std::atof(words[4]), std::atof(words[5]), std::atof(words[6])};
  words += 7;
  for (schedules::Factors& factors : pace.factors) {
    factors = {std::atof(words[0]), std::atof(words[1])};
    words += 2;
  }
  return pace;
}

}  // namespace
}  // namespace tutti::scale

int main(int argc, char** argv) {
  const bool measures = argc == 3 || argc == 4;
  const int words = 4 + 2 * tutti::scale::pace_words;
  if (!measures && argc < words) {
    std::fprintf(stderr,
                 "usage: tutti_scale links|fabric PER_NODE [GROUPS], or tutti_scale CALLS PER_NODE THROUGH NODE... "
                 "ACROSS... [data]\n");
    return 2;
  }
  try {
    MPI_Init(&argc, &argv);
    tutti::scale::Arguments arguments{argv[1], argc == 4 ? argv[3] : "", std::atoi(argv[2]), {}, argc > words};
    if (!measures)
      arguments.starts = {tutti::scale::pace_of(argv + 4), tutti::scale::pace_of(argv + 4 + tutti::scale::pace_words),
                          std::atof(argv[3]), tutti::schedules::KeepOrder::no};
    tutti::scale::run(arguments);
    MPI_Finalize();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tutti_scale: %s\n", error.what());
    std::exit(1);
  }
  return 0;
}
