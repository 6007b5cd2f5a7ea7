// SPDX-License-Identifier: BSD-3-Clause
// The price of collective calls on a large node: tutti_lines --prices epyc-9654 --ranks 192; docs/large-nodes.md tells
// more.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "backends/list.hpp"
#include "backends/shm/groups.hpp"
#include "diagnosis/recorder.hpp"
#include "simulation/node.hpp"
#include "simulation/peers.hpp"

namespace {

using namespace tutti::simulation;
using tutti::Operation;

struct Arguments {
  std::vector<std::string> machines{"epyc-9654", "xeon-8480", "grace"};
  std::vector<int> ranks{64, 128, 192};
  std::vector<std::string> operations{"barrier", "bcast", "reduce", "allreduce"};
  std::vector<std::size_t> bytes{8};
  std::vector<std::string> ways;
  int fanout = 0;
  bool back_to_back = false;
  bool prints_json = false;
  double at_most = 0;
  bool is_slow = false;  ///< some call took longer
};

void read(Arguments& a, int argc, char** argv) {
  CLI::App app(
      "The time of collective calls on a large node, by the price of each cache line that moves: the library's own "
      "sources and models of other libraries, on fibers that have a core each.");
  app.add_option("--prices", a.machines, "machines of prices.json, or files of the same form with one machine each")
      ->delimiter(',');
  app.add_option("--ranks", a.ranks, "numbers of ranks, on the first cores")->delimiter(',')->check(CLI::Range(2, 256));
  app.add_option("--operations", a.operations, "barrier, bcast, reduce, allreduce")
      ->delimiter(',')
      ->check(CLI::IsMember({"barrier", "bcast", "reduce", "allreduce"}));
  app.add_option("--bytes", a.bytes, "of float64, except for a barrier")->delimiter(',');
  app.add_option("--ways", a.ways,
                 "tutti (the planner's choice), tutti:shm:tree and so on, xhc, acoll, release_gather, ext_mpi (their "
                 "fastest variants), xhc:8,96,192 and so on; else tutti and all peers")
      ->delimiter(';');
  app.add_option("--fanout", a.fanout, "most units of a group of tutti:shm:tree, instead of the library's choice")
      ->check(CLI::Range(2, tutti::detail::shm::most_fanout));
  app.add_flag("--back-to-back", a.back_to_back,
               "each rank begins its next call at once, not together with the others");
  app.add_option("--at-most", a.at_most, "fails if a call takes longer, in ns; 0: none is too slow");
  app.add_flag("--json", a.prints_json, "a line of JSON for each time");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    std::exit(app.exit(e));
  }
  if (a.ways.empty()) {
    a.ways = peer_names();
    a.ways.insert(a.ways.begin(), "tutti");
  }
}

Operation operation_of(const std::string& name) {
  for (const Operation operation : {Operation::barrier, Operation::bcast, Operation::reduce})
    if (name == tutti::operation_name(operation)) return operation;
  return Operation::allreduce;
}

/// The fastest variant, or none.
NodeTime best_of(NodeCall call, const Prices& prices, int ranks) {
  std::vector<std::string> variants{call.way};
  if (std::find(peer_names().begin(), peer_names().end(), call.way) != peer_names().end())
    variants = variants_of(call.way, {call.operation, call.bytes, prices, ranks});
  NodeTime best;
  for (const std::string& variant : variants) {
    call.way = variant;
    const NodeTime time = time_of(call, prices, ranks);
    if (best.way.empty() || time.nanoseconds < best.nanoseconds) best = time;
  }
  return best;
}

double bytes_of(double lines) { return 64 * lines; }

void print(const Arguments& a, const Prices& prices, int ranks, const NodeCall& call, const NodeTime& time) {
  const auto operation = std::string(tutti::operation_name(call.operation));
  if (!a.prints_json) {
    fmt::print("{:<10} {:>5} {:<9} {:>6} {:<26} {:>8.0f} {:>9.0f} {:>9.0f} {:>9.0f} {:>7.0f}\n", prices.name, ranks,
               operation, call.bytes, time.way, time.nanoseconds, bytes_of(time.lines[1]), bytes_of(time.lines[2]),
               bytes_of(time.lines[3]), time.taken[1] + time.taken[2] + time.taken[3]);
    std::fflush(stdout);
    return;
  }
  nlohmann::json row{{"machine", prices.name}, {"ranks", ranks},  {"operation", operation},
                     {"bytes", call.bytes},    {"way", time.way}, {"nanoseconds", time.nanoseconds}};
  for (const Distance distance : {Distance::cache, Distance::socket, Distance::node}) {
    const auto i = static_cast<std::size_t>(distance);
    row["bytes_moved"][name_of(distance)] = bytes_of(time.lines[i]);
    row["lines_taken"][name_of(distance)] = time.taken[i];
  }
  fmt::print("{}\n", row.dump());
}

void play(Arguments& a, const Prices& prices, int ranks, const std::string& name) {
  const Operation operation = operation_of(name);
  const std::vector<std::size_t> none{0};
  for (const std::size_t bytes : operation == Operation::barrier ? none : a.bytes)
    for (const std::string& way : a.ways) {
      const NodeCall call{operation, bytes, way, a.fanout, a.back_to_back};
      const NodeTime time = best_of(call, prices, ranks);
      if (time.way.empty()) continue;
      print(a, prices, ranks, call, time);
      a.is_slow = a.is_slow || (a.at_most > 0 && time.nanoseconds > a.at_most);
    }
}

}  // namespace

int main(int argc, char** argv) {
  Arguments a;
  read(a, argc, argv);
  setenv("TUTTI_TRIALS", "0", 1);
  setenv("TUTTI_XPMEM", "0", 1);
  tutti::detail::native_backend.add_candidates = [](tutti::detail::Candidates&) {};
  // Its start waits, which no rank must do within it.
  (void)tutti::detail::flight::Recorder::instance();
  if (!a.prints_json)
    fmt::print("{:<10} {:>5} {:<9} {:>6} {:<26} {:>8} {:>9} {:>9} {:>9} {:>7}\n", "machine", "ranks", "operation", "B",
               "way", "ns", "B cache", "B socket", "B node", "taken");
  try {
    for (const std::string& machine : a.machines) {
      const Prices prices = prices_of(machine);
      for (const int ranks : a.ranks) {
        if (ranks > prices.all_cores()) continue;
        for (const std::string& operation : a.operations) play(a, prices, ranks, operation);
      }
    }
  } catch (const std::exception& e) {
    fmt::print(stderr, "tutti_lines: {}\n", e.what());
    std::fflush(stdout);
    std::_Exit(1);
  }
  if (a.is_slow) fmt::print(stderr, "FAILED: a call takes longer than {} ns\n", a.at_most);
  std::fflush(stdout);
  std::_Exit(a.is_slow ? 1 : 0);
}
