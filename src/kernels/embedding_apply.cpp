// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/embedding_apply.hpp"

#include "kernels/row_reader.hpp"
#include "kernels/row_writer.hpp"

namespace tutti::kernels {

namespace {

/// The mean of g^2 over the whole row, from all shards where its columns are sharded. Moves on in job.sums.
template <std::size_t Dim>
float mean_square(const ApplyJob& job, const double*& sums, const float* gradient) {
  const EmbeddingTable& table = job.scatter.table;
  if (sums != nullptr) return static_cast<float>(*sums++ / static_cast<double>(table.place.whole_columns));
  return static_cast<float>(sum_of_squares<Dim>(gradient, table.dim) / static_cast<double>(table.dim));
}

template <typename Stored, RowOptimizer Optimizer, std::size_t Dim>
void apply(const ApplyJob& job, PartitionScratch& own) {
  const ScatterJob& scatter = job.scatter;
  const EmbeddingTable& table = scatter.table;
  const std::size_t dim = Dim > 0 ? Dim : table.dim;
  const std::size_t state_values = row_state_values(Optimizer, dim);
  const double* sums = job.sums;
  own.values.resize(dim);
  const auto ahead = [&](std::uint32_t row) {
    const std::uint64_t at = scatter.first_row + row;
    RowReader<Stored>::prefetch(table, static_cast<std::int64_t>(at), dim);
    if (Optimizer != RowOptimizer::sgd) prefetch_bytes(job.state + at * state_values, state_values * sizeof(float));
  };
  const auto visit = [&](std::uint32_t row, const float* gradient) {
    const std::uint64_t at = scatter.first_row + row;
    float mean = 0;
    if constexpr (Optimizer == RowOptimizer::row_wise_adagrad) mean = mean_square<Dim>(job, sums, gradient);
    float* state = Optimizer == RowOptimizer::sgd ? nullptr : job.state + at * state_values;
    if constexpr (std::is_same_v<Stored, float>) {
      float* values = static_cast<float*>(table.weights) + at * table.row_stride;
      update_row<Optimizer, Dim>(values, gradient, state, dim, job.rule, mean);
    } else {
      float* values = own.values.data();
      RowReader<Stored>(table, static_cast<std::int64_t>(at)).read(values, dim);
      update_row<Optimizer, Dim>(values, gradient, state, dim, job.rule, mean);
      if (job.noise != nullptr) {
        const RowNoise noise = job.noise->row(at);
        write_row<Stored>(table, at, values, dim, &noise);
      } else {
        write_row<Stored>(table, at, values, dim, nullptr);
      }
    }
  };
  for_each_row<Dim>(scatter, own.occurrences, own.gradient, ahead, visit);
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
