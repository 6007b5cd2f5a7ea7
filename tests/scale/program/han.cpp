// SPDX-License-Identifier: BSD-3-Clause
#include "han.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "schedules/registry.hpp"

namespace tutti::scale {
namespace {

using schedules::Operation;

enum class Memory { input, between, output };

struct Stage {
  Operation operation{};
  bool is_across = false;  ///< among the first ranks of nodes
  Memory from{};
  Memory to{};
  std::size_t blocks = 1;  ///< its count, in counts of the call
};

/// `node`: ranks of a node; `all`: of all nodes.
std::vector<Stage> stages_of(Operation operation, std::size_t node, std::size_t all) {
  using enum Operation;
  using enum Memory;
  switch (operation) {
    case bcast:
      return {{bcast, true, output, output}, {bcast, false, output, output}};
    case reduce:
      return {{reduce, false, input, between}, {reduce, true, between, output}};
    case allreduce:
      return {{reduce, false, input, between},
              {reduce, true, between, output},
              {bcast, true, output, output},
              {bcast, false, output, output}};
    case gather:
      return {{gather, false, input, between}, {gather, true, between, output, node}};
    case scatter:
      return {{scatter, true, input, between, node}, {scatter, false, between, output}};
    case allgather:
      return {{gather, false, input, between},
              {allgather, true, between, output, node},
              {bcast, false, output, output, all}};
    default:
      throw std::runtime_error("HAN does not compose " + std::string(schedules::operation_name(operation)));
  }
}

struct Way {
  std::size_t segment = 0;
  std::vector<std::string> algorithms;
};

Way read_way(const std::string& text) {
  std::istringstream in(text.substr(4));
  Way way;
  char colon = 0;
  if (!(in >> way.segment >> colon)) throw std::runtime_error("not a way of HAN: " + text);
  for (std::string name; std::getline(in, name, ',');) way.algorithms.push_back(name);
  return way;
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
        count_(count_of(call, machine.ranks())),
        stages_(stages_of(call.operation, static_cast<std::size_t>(node_size_),
                          static_cast<std::size_t>(machine.ranks()))) {
    if (way_.algorithms.size() != stages_.size())
      throw std::runtime_error("HAN needs an algorithm a stage: " + call.way);
  }

  std::vector<std::vector<Part>> steps() const {
    const std::size_t segment = way_.segment == 0 ? count_ : way_.segment / sizeof(float);
    const std::size_t segments = std::max<std::size_t>(1, (count_ + segment - 1) / std::max<std::size_t>(1, segment));
    std::vector<std::vector<Part>> steps(segments + stages_.size() - 1);
    for (std::size_t i = 0; i < segments; ++i)
      for (std::size_t s = 0; s < stages_.size(); ++s)
        if (!stages_[s].is_across || rank_ % node_size_ == 0)
          steps[i + s].push_back(part(s, i * segment, std::min(segment, count_ - i * segment)));
    return steps;
  }

 private:
  [[nodiscard]] Part part(std::size_t s, std::size_t offset, std::size_t count) const {
    const Stage& stage = stages_[s];
    const auto* algorithm = schedules::find_algorithm(stage.operation, way_.algorithms[s]);
    if (algorithm == nullptr) throw std::runtime_error("no algorithm " + way_.algorithms[s]);
    schedules::Problem problem;
    problem.rank = stage.is_across ? rank_ / node_size_ : rank_ % node_size_;
    problem.size = stage.is_across ? nodes_ : node_size_;
    problem.count = count * stage.blocks;
    problem.element_size = sizeof(float);
    problem.starts = starts_;
    Part made{algorithm->generate(problem), buffers_, 2 + static_cast<int>(s)};
    made.buffers.input = at(stage.from) + offset;
    made.buffers.output = at(stage.to) + offset;
    made.first = stage.is_across ? 0 : rank_ - problem.rank;
    made.stride = stage.is_across ? node_size_ : 1;
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
  std::vector<Stage> stages_;
};

}  // namespace

bool is_han(const Call& call) { return call.way.starts_with("han:"); }

std::vector<std::vector<Part>> han_steps(const Call& call, const Machine& machine, int rank, const Buffers& buffers,
                                         float* between) {
  return Composition(call, machine, rank, buffers, between).steps();
}

}  // namespace tutti::scale
