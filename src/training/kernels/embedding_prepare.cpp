// SPDX-License-Identifier: BSD-3-Clause
#include "training/kernels/embedding_prepare.hpp"

#include <tuple>
#include <tutti/error.hpp>

#include "kernels/parallel.hpp"
#include "training/kernels/embedding_maximum.hpp"

namespace tutti::kernels {

namespace {

/// Fills in the data that the pooling needs beside the gradient.
template <typename Index>
void prepare_pooling(ScatterJob& job, Pooling pooling, EmbeddingWorkspace::Scratch& scratch) {
  if (pooling == Pooling::max || job.lookups.weights != nullptr) {
    fill_bag_of_position(job.lookups, job.bags, scratch.bag_of_position);
    job.bag_of_position = scratch.bag_of_position.data();
  }
  if (pooling == Pooling::mean) {
    fill_mean_factors<Index>(job, scratch.factors);
    job.factors = scratch.factors.data();
  } else if (pooling == Pooling::max) {
    visit_row(job.table.type, [&]<typename Row>(Row*) { fill_maximum_at<Row, Index>(job, scratch.maximum_at); });
    job.maximum_at = scratch.maximum_at.data();
  }
}

template <typename Index, IndexPolicy Policy>
std::span<const Occurrence> group(const ScatterJob& job, GroupOrder order, GroupScratch& scratch) {
  const auto total = static_cast<std::size_t>(job.lookups.offsets[job.bags] - job.lookups.offsets[0]);
  const std::uint64_t rows = job.last_row - job.first_row;
  const double share = static_cast<double>(rows) / std::max(1.0, static_cast<double>(job.table.rows));
  const auto expected = static_cast<std::size_t>(share * static_cast<double>(total));
  if (order == GroupOrder::any && worth_splitting(expected, rows)) {
    return split_rows(scratch, rows, total, [&](const auto& visit) { for_each_occurrence<Index, Policy>(job, visit); });
  }
  scratch.input.resize(total + 1);
  Occurrence* next = scratch.input.data();
  for_each_occurrence<Index, Policy>(job, [&](Occurrence occurrence, bool mine) {
    *next = occurrence;
    next += mine ? 1 : 0;
  });
  scratch.input.resize(static_cast<std::size_t>(next - scratch.input.data()));
  return group_rows(scratch, rows, order);
}

template <typename Index>
std::span<const Occurrence> group_with_policy(const ScatterJob& job, GroupOrder order, GroupScratch& scratch) {
  switch (job.policy) {
    case IndexPolicy::clamp:
      return group<Index, IndexPolicy::clamp>(job, order, scratch);
    case IndexPolicy::ignore:
      return group<Index, IndexPolicy::ignore>(job, order, scratch);
    default:
      return group<Index, IndexPolicy::fatal>(job, order, scratch);
  }
}

}  // namespace

void check_scatter(const ScatterCall& call) {
  constexpr std::int64_t limit = 0xffffffffLL;
  if (call.bags > std::size_t{limit}) {
    throw Error(ErrorCode::invalid_argument, std::string(call.function) + ": bags is " + std::to_string(call.bags) +
                                                 ", and at most 2^32 - 1 are possible; split the batch");
  }
  check_call(call.function, call.tables, call.lookups, call.gradients.size(), call.index_type, call.bags, call.options);
  for (std::size_t t = 0; t < call.tables.size(); ++t) {
    const std::int64_t* offsets = call.lookups[t].offsets;
    if (call.tables[t].rows > limit || offsets[call.bags] - offsets[0] > limit) {
      throw Error(ErrorCode::invalid_argument, std::string(call.function) + ": tables[" + std::to_string(t) +
                                                   "] has 2^32 or more rows or indices; split the table or the batch");
    }
  }
}

std::size_t prepare_partitions(const ScatterCall& call, EmbeddingWorkspace::Scratch& scratch) {
  const std::size_t partitions = partition_count(call.options.partitions);
  if (scratch.partitions.size() < partitions) scratch.partitions.resize(partitions);
  return partitions;
}

ScatterJob partition_of(const ScatterJob& whole, std::size_t partitions, std::size_t p) {
  ScatterJob job = whole;
  std::tie(job.first_row, job.last_row) = partition_range(whole.last_row, partitions, p);
  return job;
}

ScatterJob group_table(const ScatterCall& call, std::size_t t, std::size_t partitions, GroupOrder order,
                       EmbeddingWorkspace::Scratch& scratch) {
  ScatterJob whole{
      call.tables[t], call.lookups[t], call.gradients[t], call.bags, call.options.policy,
      nullptr,        nullptr,         nullptr,           0,         static_cast<std::uint64_t>(call.tables[t].rows)};
  visit_index(call.index_type, [&]<typename Index>(Index*) {
    prepare_pooling<Index>(whole, call.options.pooling, scratch);
    for_each_partition(partitions, [&](std::size_t p) {
      const ScatterJob job = partition_of(whole, partitions, p);
      PartitionScratch& own = scratch.partitions[p];
      own.occurrences = group_with_policy<Index>(job, order, own.groups);
    });
  });
  return whole;
}

}  // namespace tutti::kernels
