// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <tutti/kernels/device.hpp>

#include "device.hpp"
#include "names.hpp"
#include "random_rows.hpp"

namespace tutti::kernelbench {

namespace {

using namespace tutti::kernels;

constexpr int device_index_sets = 4;

/// Tables and batches in device memory; the batches take turns, so that no cache has their rows.
struct DeviceProblem {
  std::vector<DeviceArray<std::byte>> memory;
  std::vector<DeviceArray<RowScale>> scales;
  std::vector<DeviceArray<float>> state_memory;
  std::vector<DeviceArray<std::int64_t>> indices;
  DeviceArray<std::int64_t> offsets;
  DeviceArray<float> pooled;
  DeviceArray<float> gradient;
  std::vector<EmbeddingTable> tables;
  std::vector<float*> states;
  std::vector<Pooled<float>> outputs;
  std::vector<Pooled<const float>> gradients;
  double distinct_rows = 0;  ///< a batch, mean of the sets
};

void add_table(DeviceProblem& problem, const EmbeddingSettings& s, std::size_t t, const Queue& queue) {
  const DatatypeKind type = datatype_named(s.type);
  problem.memory.emplace_back(s.rows * s.dim * Datatype(type).size());
  queue.clear(problem.memory.back().data(), problem.memory.back().bytes());
  EmbeddingTable table{problem.memory.back().data(), type, static_cast<std::int64_t>(s.rows), s.dim, s.dim};
  if (type == DatatypeKind::uint8) {
    problem.scales.push_back(queue.upload(std::vector<RowScale>(s.rows)));
    table.scales = problem.scales.back().data();
  }
  table.place.table = t;
  problem.tables.push_back(table);
  const std::size_t stride = s.tables * s.dim;
  problem.outputs.push_back({problem.pooled.data() + t * s.dim, stride});
  problem.gradients.push_back({problem.gradient.data() + t * s.dim, stride});
  const std::size_t state_values = s.rows * row_state_values(optimizer_named(s.optimizer), s.dim);
  if (state_values == 0) return;
  problem.state_memory.emplace_back(state_values);
  queue.clear(problem.state_memory.back().data(), problem.state_memory.back().bytes());
  problem.states.push_back(problem.state_memory.back().data());
}

void add_indices(DeviceProblem& problem, const EmbeddingSettings& s, int rank, const Queue& queue) {
  RandomRows any_row(s.rows, s.zipf, static_cast<std::uint64_t>(rank + 1));
  const std::size_t per_table = s.batch * s.bag;
  for (int set = 0; set < device_index_sets; ++set) {
    std::vector<std::int64_t> indices(s.tables * per_table);
    for (auto& index : indices) index = any_row();
    problem.indices.push_back(queue.upload(indices));
    for (std::size_t t = 0; t < s.tables; ++t) {
      const auto begin = indices.begin() + static_cast<std::ptrdiff_t>(t * per_table);
      const auto end = begin + static_cast<std::ptrdiff_t>(per_table);
      std::sort(begin, end);
      problem.distinct_rows += static_cast<double>(std::unique(begin, end) - begin) / device_index_sets;
    }
  }
}

DeviceProblem make_problem(const EmbeddingSettings& s, int rank, const Queue& queue) {
  DeviceProblem problem;
  const std::size_t vectors = s.batch * s.tables * s.dim;
  problem.pooled = DeviceArray<float>(vectors);
  problem.gradient = queue.upload(std::vector<float>(vectors, 1e-4F));
  std::vector<std::int64_t> offsets;
  for (std::size_t k = 0; k <= s.tables * s.batch; ++k) offsets.push_back(static_cast<std::int64_t>(k * s.bag));
  problem.offsets = queue.upload(offsets);
  for (std::size_t t = 0; t < s.tables; ++t) add_table(problem, s, t, queue);
  add_indices(problem, s, rank, queue);
  return problem;
}

std::vector<TableLookups> lookups_of(const DeviceProblem& problem, const EmbeddingSettings& s, std::size_t set) {
  std::vector<TableLookups> lookups;
  for (std::size_t t = 0; t < s.tables; ++t) {
    lookups.push_back({problem.indices[set].data(), problem.offsets.data() + t * s.batch, nullptr});
  }
  return lookups;
}

/// Bytes that must be read and written at least: rows of every index and pooled vectors; indices and gradients of
/// every index, every row that occurs and its state twice. Sorting is not counted as useful.
struct Traffic {
  double forward;
  double backward;
};

Traffic traffic_of(const DeviceProblem& problem, const EmbeddingSettings& s) {
  const auto row = static_cast<double>(s.dim * Datatype(datatype_named(s.type)).size());
  const auto vector = static_cast<double>(s.dim * sizeof(float));
  const auto state = static_cast<double>(row_state_values(optimizer_named(s.optimizer), s.dim) * sizeof(float));
  const auto bags = static_cast<double>(s.tables * s.batch);
  const double lookups = bags * static_cast<double>(s.bag);
  constexpr double index = sizeof(std::int64_t);
  return {lookups * (row + index) + bags * (vector + index),
          lookups * (vector + index) + problem.distinct_rows * 2 * (row + state)};
}

}  // namespace

nlohmann::json run_device_embedding(const EmbeddingSettings& s, int rank) {
  const Queue queue(rank);
  const double copied = copy_bandwidth(queue, s.rounds);
  const DeviceProblem problem = make_problem(s, rank, queue);
  std::vector<std::vector<TableLookups>> lookups;
  for (std::size_t set = 0; set < device_index_sets; ++set) lookups.push_back(lookups_of(problem, s, set));
  kernels::device::Workspace workspace;
  RowUpdate update{optimizer_named(s.optimizer), 0.01F};
  update.rounding = s.stochastic ? Rounding::stochastic : Rounding::nearest;
  EmbeddingOptions options;
  options.indices_checked = true;
  const auto set_of = [&](int round) -> const auto& {
    return lookups[static_cast<std::size_t>(round % device_index_sets)];
  };
  const auto forward = [&](int round) {
    kernels::device::embedding_bag_forward(problem.tables, set_of(round), IndexType::int64, s.batch, problem.outputs,
                                           options, nullptr, workspace, queue.stream());
  };
  const auto backward = [&](int round) {
    kernels::device::embedding_bag_backward(problem.tables, set_of(round), IndexType::int64, s.batch,
                                            s.tables * s.batch * s.bag, problem.gradients, problem.states, update,
                                            options, nullptr, workspace, queue.stream());
  };
  const auto seconds = queue.measure_queued({{"forward", forward}, {"backward", backward}}, s.rounds);
  const Traffic traffic = traffic_of(problem, s);
  return {{"tables", s.tables},
          {"rows", s.rows},
          {"dim", s.dim},
          {"bag", s.bag},
          {"batch", s.batch},
          {"zipf", s.zipf},
          {"type", s.type},
          {"optimizer", s.optimizer},
          {"rounding", s.stochastic ? "stochastic" : "nearest"},
          {"distinct_rows", problem.distinct_rows},
          {"copy_gb_per_s", copied / 1e9},
          {"forward_us", seconds[0] * 1e6},
          {"forward_gb_per_s", traffic.forward / seconds[0] / 1e9},
          {"forward_over_copy", traffic.forward / seconds[0] / copied},
          {"backward_us", seconds[1] * 1e6},
          {"backward_gb_per_s", traffic.backward / seconds[1] / 1e9},
          {"backward_over_copy", traffic.backward / seconds[1] / copied}};
}

}  // namespace tutti::kernelbench
