// SPDX-License-Identifier: BSD-3-Clause
#include "composed.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "schedules/registry.hpp"

namespace tutti::scale {
namespace {

enum class Place { nodes, first_node, other_nodes, across };  // across: among the first ranks of nodes
enum class Memory { input, between, output };

/// Reads what the rank's stage before has written, the first one its input.
struct Stage {
  Operation operation{};
  Place place{};
  Memory to{};
  std::size_t blocks = 1;  ///< its count, in counts of the call
};
using Stages = std::vector<Stage>;

/// `node`: ranks of a node; `all`: of all nodes.
std::vector<Stages> compositions_of(Operation operation, std::size_t node, std::size_t all) {
  using enum Operation;
  using enum Place;
  using enum Memory;
  switch (operation) {
    case barrier:
      return {{{barrier, nodes, between}, {barrier, across, between}, {bcast, nodes, between}}};
    case bcast:
      return {{{bcast, across, output}, {bcast, nodes, output}}};
    case reduce:
      return {{{reduce, nodes, between}, {reduce, across, output}},
              {{reduce, other_nodes, between}, {reduce, across, output}, {reduce, first_node, output}}};
    case allreduce:
      return {{{reduce, nodes, between}, {allreduce, across, output}, {bcast, nodes, output}},
              {{reduce, nodes, between}, {reduce, across, output}, {bcast, across, output}, {bcast, nodes, output}}};
    case gather:
      return {{{gather, nodes, between}, {gather, across, output, node}}};
    case scatter:
      return {{{scatter, across, between, node}, {scatter, nodes, output}}};
    case allgather:
      return {{{gather, nodes, between}, {allgather, across, output, node}, {bcast, nodes, output, all}}};
    default:
      return {};
  }
}

struct Way {
  std::size_t segment = 0;
  std::vector<std::string> algorithms;
};

constexpr std::string_view prefix = "composed:";

Way read_way(const std::string& text) {
  std::istringstream in(text.substr(prefix.size()));
  Way way;
  char colon = 0;
  if (!(in >> way.segment >> colon)) throw std::runtime_error("not a composition: " + text);
  for (std::string name; std::getline(in, name, ',');) way.algorithms.push_back(name);
  return way;
}

Stages stages_of(const Call& call, const Way& way, int node, int all) {
  for (Stages& stages : compositions_of(call.operation, static_cast<std::size_t>(node), static_cast<std::size_t>(all)))
    if (stages.size() == way.algorithms.size()) return std::move(stages);
  throw std::runtime_error("no composition has these stages: " + call.way);
}

class Composition {
 public:
  Composition(const Call& call, const Machine& machine, int rank, const Buffers& buffers, float* between)
      : way_(read_way(call.way)),
        buffers_(buffers),
        between_(between),
        rank_(rank),
        node_size_(machine.node_of().most()),
        nodes_(machine.ranks() / node_size_),
        starts_(machine.starts()),
        count_(call.operation == Operation::barrier ? 1 : count_of(call, machine.ranks())),
        stages_(stages_of(call, way_, node_size_, machine.ranks())) {}

  std::vector<std::vector<Part>> steps() const {
    const std::size_t segment = way_.segment == 0 ? count_ : way_.segment / sizeof(float);
    const std::size_t segments = std::max<std::size_t>(1, (count_ + segment - 1) / std::max<std::size_t>(1, segment));
    std::vector<std::vector<Part>> steps(segments + stages_.size() - 1);
    for (std::size_t i = 0; i < segments; ++i) {
      Memory from = Memory::input;
      for (std::size_t s = 0; s < stages_.size(); ++s) {
        if (!takes_part(stages_[s].place)) continue;
        steps[i + s].push_back(part(s, from, i * segment, std::min(segment, count_ - i * segment)));
        from = stages_[s].to;
      }
    }
    return steps;
  }

 private:
  [[nodiscard]] bool takes_part(Place place) const {
    return place == Place::across       ? rank_ % node_size_ == 0
           : place == Place::first_node ? rank_ < node_size_
                                        : place == Place::nodes || rank_ >= node_size_;
  }
  [[nodiscard]] Part part(std::size_t s, Memory from, std::size_t offset, std::size_t count) const {
    const Stage& stage = stages_[s];
    const bool is_across = stage.place == Place::across;
    const auto* algorithm = schedules::find_algorithm(stage.operation, way_.algorithms[s]);
    if (algorithm == nullptr) throw std::runtime_error("no algorithm " + way_.algorithms[s]);
    schedules::Problem problem;
    problem.rank = is_across ? rank_ / node_size_ : rank_ % node_size_;
    problem.size = is_across ? nodes_ : node_size_;
    problem.count = count * stage.blocks;
    problem.element_size = sizeof(float);
    problem.starts.through = (is_across ? starts_.across : starts_.on_node).through;
    Part made{algorithm->generate(problem), buffers_, 2 + static_cast<int>(s)};
    made.buffers.input = at(from) + offset;
    made.buffers.output = at(stage.to) + offset;
    made.first = is_across ? 0 : rank_ - problem.rank;
    made.stride = is_across ? node_size_ : 1;
    return made;
  }
  /// Only inputs are read alone, and no schedule writes its input.
  [[nodiscard]] float* at(Memory memory) const {
    return memory == Memory::input     ? const_cast<float*>(buffers_.input)
           : memory == Memory::between ? between_
                                       : buffers_.output;
  }

  Way way_;
  Buffers buffers_;
  float* between_;
  int rank_;
  int node_size_;
  int nodes_;
  schedules::Starts starts_;
  std::size_t count_;
  Stages stages_;
};

}  // namespace

bool is_composed(const Call& call) { return call.way.starts_with(prefix); }

std::vector<std::vector<Part>> composed_steps(const Call& call, const Machine& machine, int rank,
                                              const Buffers& buffers, float* between) {
  return Composition(call, machine, rank, buffers, between).steps();
}

}  // namespace tutti::scale
