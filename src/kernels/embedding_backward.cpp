// SPDX-License-Identifier: BSD-3-Clause
#include <tuple>
#include <tutti/error.hpp>
#include <tutti/kernels/embedding_backward.hpp>

#include "kernels/embedding_maximum.hpp"
#include "kernels/embedding_scatter.hpp"
#include "kernels/parallel.hpp"

namespace tutti::kernels {

EmbeddingWorkspace::EmbeddingWorkspace() : scratch_(std::make_unique<Scratch>()) {}
EmbeddingWorkspace::~EmbeddingWorkspace() = default;
EmbeddingWorkspace::EmbeddingWorkspace(EmbeddingWorkspace&&) noexcept = default;
EmbeddingWorkspace& EmbeddingWorkspace::operator=(EmbeddingWorkspace&&) noexcept = default;

namespace {

template <RowOptimizer Optimizer, typename Row>
void update_for_dim(const ScatterJob& job, std::span<const Occurrence> occurrences, std::vector<float>& scratch) {
  switch (job.table.dim) {
    case 16:
      return update_rows<Optimizer, 16, Row>(job, occurrences, scratch);
    case 32:
      return update_rows<Optimizer, 32, Row>(job, occurrences, scratch);
    case 64:
      return update_rows<Optimizer, 64, Row>(job, occurrences, scratch);
    case 128:
      return update_rows<Optimizer, 128, Row>(job, occurrences, scratch);
    default:
      return update_rows<Optimizer, 0, Row>(job, occurrences, scratch);
  }
}

template <typename Row, typename Index>
void run_job(const ScatterJob& job, PartitionScratch& scratch) {
  if (job.policy == IndexPolicy::clamp) {
    collect<Index, IndexPolicy::clamp>(job, scratch.groups.input);
  } else if (job.policy == IndexPolicy::ignore) {
    collect<Index, IndexPolicy::ignore>(job, scratch.groups.input);
  } else {
    collect<Index, IndexPolicy::fatal>(job, scratch.groups.input);
  }
  const auto occurrences = group_rows(scratch.groups, job.last_row - job.first_row);
  switch (job.update.optimizer) {
    case RowOptimizer::sgd:
      return update_for_dim<RowOptimizer::sgd, Row>(job, occurrences, scratch.gradient);
    case RowOptimizer::adagrad:
      return update_for_dim<RowOptimizer::adagrad, Row>(job, occurrences, scratch.gradient);
    case RowOptimizer::row_wise_adagrad:
      return update_for_dim<RowOptimizer::row_wise_adagrad, Row>(job, occurrences, scratch.gradient);
  }
}

void check_states(std::span<const EmbeddingTable> tables, std::span<const TableLookups> lookups, std::size_t bags,
                  std::span<float* const> states, const RowUpdate& update) {
  if (update.optimizer != RowOptimizer::sgd && states.size() != tables.size()) {
    throw Error(ErrorCode::invalid_argument, "embedding_bag_backward: states has " + std::to_string(states.size()) +
                                                 " entries for " + std::to_string(tables.size()) +
                                                 " tables; Adagrad needs one for each");
  }
  constexpr std::int64_t limit = 0xffffffffLL;
  for (std::size_t t = 0; t < tables.size(); ++t) {
    if (tables[t].rows > limit || lookups[t].offsets[bags] - lookups[t].offsets[0] > limit) {
      throw Error(ErrorCode::invalid_argument, "embedding_bag_backward: tables[" + std::to_string(t) +
                                                   "] has 2^32 or more rows or indices; split the table or the batch");
    }
  }
}

/// Fills in what the pooling needs beside the gradient.
void prepare(ScatterJob& job, EmbeddingWorkspace::Scratch& scratch, IndexType index_type, Pooling pooling) {
  if (pooling == Pooling::max || job.lookups.weights != nullptr) {
    fill_bag_of_position(job.lookups, job.bags, scratch.bag_of_position);
    job.bag_of_position = scratch.bag_of_position.data();
  }
  visit_row_and_index(job.table.type, index_type, [&]<typename Row, typename Index>(Row*, Index*) {
    if (pooling == Pooling::mean) {
      fill_mean_factors<Index>(job, scratch.factors);
      job.factors = scratch.factors.data();
    } else if (pooling == Pooling::max) {
      fill_maximum_at<Row, Index>(job, scratch.maximum_at);
      job.maximum_at = scratch.maximum_at.data();
    }
  });
}

}  // namespace

void embedding_bag_backward(std::span<const EmbeddingTable> tables, std::span<const TableLookups> lookups,
                            IndexType index_type, std::size_t bags, std::span<const Pooled<const float>> gradients,
                            std::span<float* const> states, const RowUpdate& update, const EmbeddingOptions& options,
                            EmbeddingWorkspace& workspace) {
  check_call("embedding_bag_backward", tables, lookups, gradients.size(), index_type, bags, options);
  check_states(tables, lookups, bags, states, update);
  auto& scratch = workspace.scratch();
  const std::size_t partitions = partition_count(options.partitions);
  if (scratch.partitions.size() < partitions) scratch.partitions.resize(partitions);
  for (std::size_t t = 0; t < tables.size(); ++t) {
    float* state = states.empty() ? nullptr : states[t];
    ScatterJob whole{
        tables[t],      lookups[t], gradients[t], state,   update, bags,
        options.policy, nullptr,    nullptr,      nullptr, 0,      static_cast<std::uint64_t>(tables[t].rows)};
    prepare(whole, scratch, index_type, options.pooling);
    for_each_partition(partitions, [&](std::size_t p) {
      ScatterJob job = whole;
      std::tie(job.first_row, job.last_row) = partition_range(whole.last_row, partitions, p);
      visit_row_and_index(job.table.type, index_type, [&]<typename Row, typename Index>(Row*, Index*) {
        run_job<Row, Index>(job, scratch.partitions[p]);
      });
    });
  }
}

}  // namespace tutti::kernels
