// SPDX-License-Identifier: BSD-3-Clause
#include "training/kernels/embedding_apply.hpp"

#include "training/kernels/row_reader.hpp"
#include "training/kernels/row_writer.hpp"

namespace tutti::kernels {

namespace {

/// The mean of g^2 over the whole row, from all shards if its columns are sharded. Advances in job.sums.
float mean_square(const EmbeddingTable& table, const double*& sums, const float* gradient) {
  if (sums != nullptr) return static_cast<float>(*sums++ / static_cast<double>(table.place.whole_columns));
  return static_cast<float>(sum_of_squares(gradient, table.dim) / static_cast<double>(table.dim));
}

/// Reads, changes and stores a row; in one pass if its values do not depend on one another.
template <typename Stored, RowOptimizer Optimizer>
[[gnu::always_inline]] inline void change_row(const EmbeddingTable& table, std::uint64_t row, std::size_t dim,
                                              const float* gradient, const RowChange<Optimizer>& change,
                                              const RowNoise* noise, float* buffer) {
  constexpr bool scaled = std::is_same_v<Stored, std::uint8_t>;
  Stored* const values = static_cast<Stored*>(table.weights) + row * table.row_stride;
  const RowReader<Stored> reader(table, static_cast<std::int64_t>(row));
  for (std::size_t d = 0; d < dim; d += lane_count) {
    const std::size_t width = std::min(lane_count, dim - d);
    Lanes block;
    Lanes slope;
    reader.load(block, d, width);
    load_part(slope, gradient + d, width);
    change(block, slope, d, width);
    if constexpr (scaled) {
      store_lanes(buffer + d, block);
    } else {
      store_block(values, block, d, width, noise);
    }
  }
  if constexpr (scaled) store_scaled(table, row, buffer, dim, noise);
}

template <typename Stored, RowOptimizer Optimizer, std::size_t Dim>
void apply(const ApplyJob& job, PartitionScratch& own) {
  const ScatterJob& scatter = job.scatter;
  const EmbeddingTable table = scatter.table;
  const std::size_t dim = Dim > 0 ? Dim : table.dim;
  constexpr bool stateless = Optimizer == RowOptimizer::sgd;
  const std::size_t state_values = row_state_values(Optimizer, dim);
  const double* sums = job.sums;
  own.values.resize(padded(dim));
  float* const buffer = own.values.data();
  const auto ask = [&]<CacheLevel Level>(std::uint32_t row) {
    const std::uint64_t at = scatter.first_row + row;
    prefetch_row<Stored, Level>(table, static_cast<std::int64_t>(at), dim);
    if constexpr (!stateless) prefetch_bytes<Level>(job.state + at * state_values, state_values * sizeof(float));
  };
  const auto visit = [&](std::uint32_t row, const float* gradient) {
    const std::uint64_t at = scatter.first_row + row;
    float mean = 0;
    if constexpr (Optimizer == RowOptimizer::row_wise_adagrad) mean = mean_square(table, sums, gradient);
    float* state = stateless ? nullptr : job.state + at * state_values;
    const RowChange<Optimizer> change(job.rule, state, dim, mean);
    if (job.noise != nullptr) {
      const RowNoise noise = job.noise->row(at);
      change_row<Stored>(table, at, dim, gradient, change, &noise, buffer);
    } else {
      change_row<Stored>(table, at, dim, gradient, change, nullptr, buffer);
    }
  };
  for_each_row<Dim>(scatter, own.occurrences, own.gradient, ask, visit);
}

template <typename Stored, RowOptimizer Optimizer>
void apply_any_dim(const ApplyJob& job, PartitionScratch& own) {
  visit_dim(job.scatter.table.dim, [&]<std::size_t Dim>(std::integral_constant<std::size_t, Dim>) {
    apply<Stored, Optimizer, Dim>(job, own);
  });
}

}  // namespace

template <typename Stored>
void apply_rows(const ApplyJob& job, RowOptimizer optimizer, PartitionScratch& own) {
  switch (optimizer) {
    case RowOptimizer::sgd:
      return apply_any_dim<Stored, RowOptimizer::sgd>(job, own);
    case RowOptimizer::adagrad:
      return apply_any_dim<Stored, RowOptimizer::adagrad>(job, own);
    case RowOptimizer::row_wise_adagrad:
      return apply_any_dim<Stored, RowOptimizer::row_wise_adagrad>(job, own);
    case RowOptimizer::adam:
      return apply_any_dim<Stored, RowOptimizer::adam>(job, own);
  }
}

template void apply_rows<float>(const ApplyJob&, RowOptimizer, PartitionScratch&);
template void apply_rows<bfloat16_t>(const ApplyJob&, RowOptimizer, PartitionScratch&);
template void apply_rows<float16_t>(const ApplyJob&, RowOptimizer, PartitionScratch&);
template void apply_rows<std::uint8_t>(const ApplyJob&, RowOptimizer, PartitionScratch&);

}  // namespace tutti::kernels
