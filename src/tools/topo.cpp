// SPDX-License-Identifier: BSD-3-Clause
#include "tools/topo.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mpi.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <tutti/collectives/gather.hpp>
#include <tutti/collectives/gatherv.hpp>
#include <tutti/communicator.hpp>
#include <vector>

#include "common/command_line/options.hpp"
#include "tools/drawing.hpp"
#include "tools/program.hpp"

namespace tutti::tools {
namespace {

using detail::ElementKind;
using detail::Hardware;

struct TopoSettings {
  std::string input;
  std::string cores = "auto";
  std::vector<std::string> show;
  bool json = false;
  std::string svg_file;
};

using namespace command_line;

const std::map<std::string, ElementKind> kinds = {{"ranks", ElementKind::rank},
                                                  {"cores", ElementKind::core},
                                                  {"numa", ElementKind::numa},
                                                  {"gpus", ElementKind::gpu},
                                                  {"nics", ElementKind::nic}};

/// Gathers the texts of all ranks at rank 0.
std::vector<std::string> gather_texts(const Communicator& comm, const std::string& mine) {
  const auto size = static_cast<std::size_t>(comm.size());
  const std::size_t length = mine.size();
  std::vector<std::size_t> lengths(is_root() ? size : 0);
  gather(comm, ConstBuffer(&length, 1), lengths, 0);
  std::vector<std::size_t> offsets(lengths.size(), 0);
  for (std::size_t i = 1; i < offsets.size(); ++i) offsets[i] = offsets[i - 1] + lengths[i - 1];
  std::string all(is_root() ? offsets.back() + lengths.back() : 0, ' ');
  gatherv(comm, ConstBuffer(mine.data(), mine.size()), Buffer(all.data(), all.size()), lengths, offsets, 0);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < lengths.size(); ++i) texts.push_back(all.substr(offsets[i], lengths[i]));
  return texts;
}

/// The nodes of a job and what they know of the network.
struct JobMachine {
  Hardware hardware{};
  NetworkView network{};
};

/// The first rank of each node examines its machine. Collective.
JobMachine machine_of_job() {
  const auto comm = Communicator::duplicate(MPI_COMM_WORLD);
  const Topology& topology = comm.topology();
  const bool looks = topology.places[static_cast<std::size_t>(comm.rank())].local_rank == 0;
  const auto texts = gather_texts(comm, looks ? hardware_to_json(detail::this_machine()) : std::string());
  const auto paths = gather_texts(comm, looks ? paths_to_json(detail::network_paths()) : std::string());
  if (!is_root()) return {};
  std::vector<Hardware> nodes;
  // Nodes are numbered by their lowest rank, which is the one that examined the machine.
  for (const std::string& text : texts)
    if (!text.empty()) nodes.push_back(hardware_from_json(text));
  NetworkView network{topology.host_names, {}, topology.network_source};
  for (const std::string& text : paths)
    if (!text.empty()) network.paths.push_back(paths_from_json(text));
  return {detail::join_nodes(nodes, topology), std::move(network)};
}

Hardware choose(Hardware hardware, const TopoSettings& settings) {
  constexpr std::size_t many_cores = 24;
  std::size_t cores = 0;
  for (const auto& element : hardware.elements) cores += element.kind == ElementKind::core ? 1U : 0U;
  if (settings.cores == "groups" || (settings.cores == "auto" && cores > many_cores))
    hardware = detail::group_cores(hardware);
  std::vector<ElementKind> kept;
  for (const auto& [name, kind] : kinds)
    if (settings.show.empty() || std::find(settings.show.begin(), settings.show.end(), name) != settings.show.end())
      kept.push_back(kind);
  return detail::keep_kinds(hardware, kept);
}

std::string names_of_kinds() {
  std::vector<std::string> names;
  for (const auto& [name, kind] : kinds) names.push_back(name);
  return fmt::format("{}", fmt::join(names, ", "));
}

void check_kinds(const TopoSettings& settings) {
  for (const std::string& word : settings.show)
    if (kinds.find(word) == kinds.end())
      throw UsageError(fmt::format("--show: '{}' is none of {}", word, names_of_kinds()));
}

std::string with_blank_line(const std::string& text) { return text.empty() ? text : "\n" + text; }

void show(const TopoSettings& settings) {
  check_kinds(settings);
  if (!settings.input.empty() && !is_root()) return;
  JobMachine found =
      settings.input.empty() ? machine_of_job() : JobMachine{detail::machine_from_xml(settings.input), {}};
  if (!is_root()) return;
  const Hardware hardware = choose(std::move(found.hardware), settings);
  if (!settings.svg_file.empty()) write_drawing(settings.svg_file, topo_json(hardware, found.network));
  if (settings.json)
    print(topo_json(hardware, found.network));
  else if (settings.svg_file.empty())
    print(detail::matrix_text(hardware) + with_blank_line(network_text(found.network)));
}

}  // namespace

void add_topo(CLI::App& app) {
  const auto settings = std::make_shared<TopoSettings>();
  CLI::App* topo = app.add_subcommand("topo", "The machine as a matrix of ranks, cores, NUMA nodes, GPUs and NICs");
  add_words(*topo, "--show", settings->show, "show only these kinds of elements, of " + names_of_kinds());
  add_choice(*topo, "--cores", settings->cores, {"auto", "each", "groups"},
             "each: every core; groups: the cores of a cache as one element; auto: groups from 25 cores on");
  add_text(*topo, "--input", settings->input, "FILE",
           "show the machine in an XML file of hwloc (lstopo machine.xml) instead of this one");
  add_flag(*topo, "--json", settings->json, "prints JSON");
  add_text(*topo, "--svg", settings->svg_file, "FILE", "writes a drawing to this file");
  topo->footer("Under mpiexec the output shows the ranks of the job, all its nodes, and the groups of the network.");
  topo->callback([settings] { show(*settings); });
}

}  // namespace tutti::tools
