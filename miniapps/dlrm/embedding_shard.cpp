// SPDX-License-Identifier: BSD-3-Clause
#include "embedding_shard.hpp"

namespace dlrm {

namespace k = tutti::kernels;

namespace {

constexpr k::EmbeddingOptions checked{.indices_checked = true};

template <typename Float>
std::vector<k::Pooled<Float>> pooled_views(Float* base, std::size_t tables, std::size_t dim) {
  std::vector<k::Pooled<Float>> views(tables);
  for (std::size_t i = 0; i < tables; ++i) {
    views[i] = {base + i * dim, tables * dim};
  }
  return views;
}

}  // namespace

EmbeddingShard::EmbeddingShard(std::vector<std::size_t> owned, const std::vector<std::size_t>& rows, std::size_t dim,
                               k::RowOptimizer optimizer)
    : owned_(std::move(owned)), dim_(dim), optimizer_(optimizer) {
  for (const std::size_t t : owned_) {
    memory_.push_back(k::allocate_table(rows[t] * dim * sizeof(float)));
    tables_.push_back(
        {memory_.back().get(), tutti::DatatypeKind::float32, static_cast<std::int64_t>(rows[t]), dim, dim});
  }
  for (std::size_t i = 0; i < owned_.size() && optimizer != k::RowOptimizer::sgd; ++i) {
    state_memory_.push_back(k::allocate_table(state_values(optimizer, rows[owned_[i]], dim) * sizeof(float)));
    states_.push_back(reinterpret_cast<float*>(state_memory_.back().get()));
  }
}

std::size_t EmbeddingShard::state_values(k::RowOptimizer optimizer, std::size_t rows, std::size_t dim) {
  switch (optimizer) {
    case k::RowOptimizer::adagrad:
      return rows * dim;
    case k::RowOptimizer::row_wise_adagrad:
      return rows;
    default:
      return 0;
  }
}

std::span<float> EmbeddingShard::weights(std::size_t i) {
  return {static_cast<float*>(tables_[i].weights), static_cast<std::size_t>(tables_[i].rows) * dim_};
}

std::span<float> EmbeddingShard::state(std::size_t i) {
  return states_.empty()
             ? std::span<float>{}
             : std::span<float>{states_[i], state_values(optimizer_, static_cast<std::size_t>(tables_[i].rows), dim_)};
}

std::string EmbeddingShard::check(const ShardLookups& lookups) const {
  auto violation = k::check_indices(tables_, lookups.tables, lookups.index_type, lookups.bags);
  if (!violation) {
    return {};
  }
  violation->table = owned_[violation->table];
  return violation->text();
}

void EmbeddingShard::forward(const ShardLookups& lookups, float* pooled) const {
  const auto outputs = pooled_views(pooled, tables_.size(), dim_);
  k::embedding_bag_forward(tables_, lookups.tables, lookups.index_type, lookups.bags, outputs, checked);
}

void EmbeddingShard::backward(const ShardLookups& lookups, const float* gradients, float learning_rate) {
  const auto inputs = pooled_views(gradients, tables_.size(), dim_);
  k::embedding_bag_backward(tables_, lookups.tables, lookups.index_type, lookups.bags, inputs, states_,
                            {.optimizer = optimizer_, .learning_rate = learning_rate}, checked, workspace_);
}

}  // namespace dlrm
