// SPDX-License-Identifier: BSD-3-Clause
// What the planner chooses on a machine with given links: study.py asks it about the simulated one.
//
//   tutti_scale_choices LINKS NODES PER_NODE < CALLS
//   tutti_scale_choices    a line for each question, LINKS NODES PER_NODE, the ranks, spread evenly, and the number
//                          of calls, then the calls; each answer ends with the line "end"
//
// LINKS is as GivenLinks reads it. A call is an operation and bytes. Prints for each call and each schedule that may be
// chosen its predicted seconds, the fastest first, and before all the starts by which hierarchical schedules choose
// their phases. Of an alltoallv the planner knows no bytes: the order is that of its choice, and the seconds are those
// of blocks of one size.
#include <algorithm>
#include <iostream>
#include <limits>
#include <stdexcept>
#include <string>

#include "given_links.hpp"

namespace tutti::tools {
namespace {

/// Messages alone, and the local work of the file.
Surroundings given(const char* path, int nodes, int per_node, int ranks) {
  Surroundings made;
  made.topology = imagined_topology(ranks, nodes, per_node, {});
  made.shm = made.single_copy = false;
  const auto links = std::make_shared<const GivenLinks>(path);
  made.costs.combine = links->combine();
  made.costs.far_copy = links->copy();
  made.table = links;
  made.topology.network_groups = links->order();
  return made;
}

detail::Signature call_of(const std::string& operation, std::size_t bytes, int ranks) {
  Question question;
  question.operation = operation;
  Operation found{};
  if (!detail::tuning::find_operation(operation, found)) throw std::runtime_error("no operation " + operation);
  const std::size_t blocks = tutti::has_equal_blocks(found) ? static_cast<std::size_t>(ranks) : 1;
  question.bytes = std::to_string(found == Operation::barrier ? 0 : bytes / blocks);
  return signature_of(question, ranks);
}

/// The schedules over messages that may be chosen.
std::vector<detail::Candidate> ways_of(const std::string& operation, std::size_t bytes, const Surroundings& machine) {
  const int ranks = static_cast<int>(machine.topology.places.size());
  const Case call(call_of(operation, bytes, ranks), machine, 0);
  std::vector<detail::Candidate> ways = candidates(call.signature, call.machine());
  std::erase_if(ways, [](const detail::Candidate& way) { return !way.can_be_chosen() || way.algorithm == nullptr; });
  return ways;
}

void set_seconds_of_equal_blocks(std::vector<detail::Candidate>& ways, std::size_t bytes, const Surroundings& machine) {
  const std::vector<detail::Candidate> equal = ways_of("alltoall", bytes, machine);
  for (detail::Candidate& way : ways)
    for (const detail::Candidate& twin : equal)
      if (twin.algorithm->name == way.algorithm->name) way.seconds = twin.seconds;
}

void answer(const char* links, int nodes, int per_node, int ranks, std::size_t calls) {
  const Surroundings machine = given(links, nodes, per_node, ranks);
  const Case call({}, machine, 0);
  const schedules::Starts starts = starts_of(links_of(call.machine()), detail::LinkLevel::node, nodes, per_node);
  std::cout << "starts " << starts.through;
  for (const schedules::LevelPace& pace : {starts.on_node, starts.across}) {
    std::cout << ' ' << pace.start << ' ' << pace.message << ' ' << pace.several << ' ' << pace.shared << ' '
              << pace.one_way << ' ' << pace.passing << ' ' << pace.through;
    for (const schedules::Factors& factors : pace.factors) std::cout << ' ' << factors.start << ' ' << factors.bytes;
  }
  std::cout << '\n';
  std::string operation;
  for (std::size_t bytes = 0; calls > 0 && std::cin >> operation >> bytes; --calls) {
    std::vector<detail::Candidate> ways = ways_of(operation, bytes, machine);
    if (operation == "alltoallv") set_seconds_of_equal_blocks(ways, bytes, machine);
    for (const detail::Candidate& way : ways)
      std::cout << operation << ' ' << bytes << ' ' << way.algorithm->name << ' ' << way.seconds << '\n';
  }
}

void answer_all() {
  std::string links;
  int nodes = 0;
  int per_node = 0;
  int ranks = 0;
  for (std::size_t calls = 0; std::cin >> links >> nodes >> per_node >> ranks >> calls;) {
    answer(links.c_str(), nodes, per_node, ranks, calls);
    std::cout << "end" << std::endl;
  }
}

}  // namespace
}  // namespace tutti::tools

int main(int argc, char** argv) {
  if (argc != 4 && argc != 1) {
    std::cerr << "usage: tutti_scale_choices [LINKS NODES PER_NODE] < CALLS\n";
    return 2;
  }
  try {
    if (argc == 1) {
      tutti::tools::answer_all();
    } else {
      const int nodes = std::stoi(argv[2]);
      const int per_node = std::stoi(argv[3]);
      tutti::tools::answer(argv[1], nodes, per_node, nodes * per_node, std::numeric_limits<std::size_t>::max());
    }
  } catch (const std::exception& error) {
    std::cerr << "tutti_scale_choices: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
