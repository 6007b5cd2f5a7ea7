// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>
#include <tutti/kernels/embedding_backward.hpp>
#include <tutti/kernels/embedding_rows.hpp>
#include <tutti/kernels/table_memory.hpp>

#include "benchmarks.hpp"
#include "measure.hpp"
#include "names.hpp"
#include "random_rows.hpp"

namespace tutti::kernelbench {

namespace {

using namespace tutti::kernels;

constexpr int index_sets = 4;

struct Problem {
  std::vector<TableMemory> memory;
  std::vector<TableMemory> scale_memory;
  std::vector<TableMemory> state_memory;
  std::vector<EmbeddingTable> tables;
  std::vector<float*> states;
  std::vector<std::int64_t> offsets;
  std::vector<std::int64_t> indices[index_sets];
  TableMemory pooled;
  TableMemory gradient;
  TableMemory copies;
  std::vector<Pooled<float>> outputs;
  std::vector<Pooled<const float>> gradients;
};

std::size_t row_bytes(const EmbeddingSettings& s) { return s.dim * Datatype(datatype_named(s.type)).size(); }

void add_table(Problem& problem, const EmbeddingSettings& s, std::size_t t) {
  problem.memory.push_back(allocate_table(s.rows * row_bytes(s)));
  EmbeddingTable table{problem.memory.back().get(), datatype_named(s.type), static_cast<std::int64_t>(s.rows), s.dim,
                       s.dim};
  if (table.type == DatatypeKind::uint8) {
    problem.scale_memory.push_back(allocate_table(s.rows * sizeof(RowScale)));
    table.scales = reinterpret_cast<RowScale*>(problem.scale_memory.back().get());
  }
  table.place.table = t;
  std::vector<float> row(s.dim);
  for (std::int64_t r = 0; r < table.rows; ++r) {
    for (std::size_t d = 0; d < s.dim; ++d) {
      row[d] = static_cast<float>((static_cast<std::size_t>(r) * s.dim + d) % 1000) * 1e-3F;
    }
    write_rows(table, {r, 1, 0, s.dim}, row.data(), s.dim);
  }
  problem.tables.push_back(table);
  const std::size_t stride = s.tables * s.dim;
  problem.outputs.push_back({reinterpret_cast<float*>(problem.pooled.get()) + t * s.dim, stride});
  problem.gradients.push_back({reinterpret_cast<float*>(problem.gradient.get()) + t * s.dim, stride});
  const std::size_t state_values = s.rows * row_state_values(optimizer_named(s.optimizer), s.dim);
  if (state_values == 0) return;
  problem.state_memory.push_back(allocate_table(state_values * sizeof(float)));
  problem.states.push_back(reinterpret_cast<float*>(problem.state_memory.back().get()));
}

Problem make_problem(const EmbeddingSettings& s, int rank) {
  Problem problem;
  const std::size_t vectors = s.batch * s.tables * s.dim;
  problem.pooled = allocate_table(vectors * sizeof(float));
  problem.gradient = allocate_table(vectors * sizeof(float));
  problem.copies = allocate_table(s.tables * s.batch * s.bag * row_bytes(s));
  for (std::size_t i = 0; i < vectors; ++i) reinterpret_cast<float*>(problem.gradient.get())[i] = 1e-4F;
  for (std::size_t t = 0; t < s.tables; ++t) add_table(problem, s, t);
  for (std::size_t k = 0; k <= s.tables * s.batch; ++k) {
    problem.offsets.push_back(static_cast<std::int64_t>(k * s.bag));
  }
  RandomRows any_row(s.rows, s.zipf, static_cast<std::uint64_t>(rank + 1));
  for (auto& set : problem.indices) {
    set.resize(s.tables * s.batch * s.bag);
    for (auto& index : set) index = any_row();
  }
  return problem;
}

std::vector<TableLookups> lookups_of(const Problem& problem, const EmbeddingSettings& s, int set) {
  std::vector<TableLookups> lookups;
  for (std::size_t t = 0; t < s.tables; ++t) {
    lookups.push_back({problem.indices[set].data(), problem.offsets.data() + t * s.batch, nullptr});
  }
  return lookups;
}

/// The bar: the same random rows copied one after the other, all of them kept (`whole`) or over one another (`reused`).
void copy_rows(const Problem& problem, const EmbeddingSettings& s, int set, bool keep) {
  const std::size_t bytes = row_bytes(s);
  const std::size_t per_table = s.batch * s.bag;
  for (std::size_t t = 0; t < s.tables; ++t) {
    const auto* rows = static_cast<const std::byte*>(problem.tables[t].weights);
    const auto* indices = problem.indices[set].data() + t * per_table;
    std::byte* to = problem.copies.get() + (keep ? t * per_table * bytes : 0);
    for (std::size_t i = 0; i < per_table; ++i) {
      std::memcpy(to + (keep ? i : i % s.bag) * bytes, rows + static_cast<std::size_t>(indices[i]) * bytes, bytes);
    }
  }
}

}  // namespace

nlohmann::json run_embedding(const EmbeddingSettings& s, int rank) {
  Problem problem = make_problem(s, rank);
  std::vector<std::vector<TableLookups>> lookups;
  for (int set = 0; set < index_sets; ++set) lookups.push_back(lookups_of(problem, s, set));
  EmbeddingWorkspace workspace;
  RowUpdate update{optimizer_named(s.optimizer), 0.01F};
  update.rounding = s.stochastic ? Rounding::stochastic : Rounding::nearest;
  const auto forward = [&](int round) {
    embedding_bag_forward(problem.tables, lookups[static_cast<std::size_t>(round % index_sets)], IndexType::int64,
                          s.batch, problem.outputs);
  };
  const auto backward = [&](int round) {
    EmbeddingOptions options;
    options.indices_checked = true;
    embedding_bag_backward(problem.tables, lookups[static_cast<std::size_t>(round % index_sets)], IndexType::int64,
                           s.batch, problem.gradients, problem.states, update, options, workspace);
  };
  const auto seconds = measure({{"copy_kept", [&](int r) { copy_rows(problem, s, r % index_sets, true); }},
                                {"forward", forward},
                                {"copy_reused", [&](int r) { copy_rows(problem, s, (r + 2) % index_sets, false); }},
                                {"train",
                                 [&](int r) {
                                   forward(r);
                                   backward(r);
                                 }},
                                {"update", backward}},
                               s.rounds);
  const double gigabytes = static_cast<double>(s.tables * s.batch * s.bag * row_bytes(s)) / 1e9;
  return {{"tables", s.tables},
          {"rows", s.rows},
          {"dim", s.dim},
          {"bag", s.bag},
          {"batch", s.batch},
          {"zipf", s.zipf},
          {"type", s.type},
          {"optimizer", s.optimizer},
          {"rounding", s.stochastic ? "stochastic" : "nearest"},
          {"forward_ms", seconds[1] * 1e3},
          {"forward_gb_per_s", gigabytes / seconds[1]},
          {"copy_kept_gb_per_s", gigabytes / seconds[0]},
          {"copy_reused_gb_per_s", gigabytes / seconds[2]},
          {"forward_over_copy_kept", seconds[0] / seconds[1]},
          {"forward_over_copy_reused", seconds[2] / seconds[1]},
          {"forward_backward_update_ms", seconds[3] * 1e3},
          {"update_ms", seconds[4] * 1e3}};
}

}  // namespace tutti::kernelbench
