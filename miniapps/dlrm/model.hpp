// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <tutti/communicator.hpp>
#include <vector>

#include "common/data_source.hpp"
#include "common/mlp.hpp"
#include "embedding_shard.hpp"
#include "gradient_reducer.hpp"
#include "interaction.hpp"
#include "options.hpp"
#include "phases.hpp"
#include "placement.hpp"
#include "pooled_exchange.hpp"
#include "step_agreement.hpp"

namespace dlrm {

/// Shapes of a model: all that follows from options and data.
struct ModelShape {
  std::vector<std::size_t> bottom;
  std::vector<std::size_t> top;  ///< interaction width included
  std::vector<std::size_t> rows;
  std::size_t dim = 0;
  std::size_t max_batch = 0;  ///< largest global batch
  InteractionShape interaction;
  tutti::miniapps::Products products = tutti::miniapps::Products::automatic;
};

/// DLRM, hybrid parallel: this rank's tables, and a replica of both MLPs that computes this rank's slice of each batch.
/// forward and backward are collective over the communicator; every rank passes the same global batch.
class Model {
 public:
  Model(const tutti::Communicator& comm, ModelShape shape, const Placement& placement,
        tutti::kernels::RowOptimizer optimizer);

  /// Predictions for this rank's slice; they live here until the next call. Checks the indices first: where any rank
  /// finds one out of range all throw, before anything is exchanged. `local_error`: what else is wrong with the batch
  /// on this rank.
  std::span<const float> forward(const tutti::miniapps::Batch& batch, PhaseTimer& timer,
                                 const std::string& local_error = {});

  /// After forward of the same batch: from the gradient of the predictions (overwritten) to updated tables and dense
  /// parameters.
  void backward(const tutti::miniapps::Batch& batch, std::span<float> prediction_gradient, float rate,
                PhaseTimer& timer);

  [[nodiscard]] tutti::miniapps::Mlp& bottom() { return bottom_; }
  [[nodiscard]] tutti::miniapps::Mlp& top() { return top_; }
  [[nodiscard]] Interaction& interaction() { return interaction_; }
  [[nodiscard]] EmbeddingShard& shard() { return shard_; }
  [[nodiscard]] const ModelShape& shape() const { return shape_; }
  /// As BasicMlp::keep_parameters, for all that is dense.
  void keep_parameters(bool keep);
  /// Adagrad's sums for the bottom MLP, the interaction and the top MLP; empty for sgd.
  [[nodiscard]] std::span<float> bottom_state() { return bottom_state_; }
  [[nodiscard]] std::span<float> interaction_state() { return interaction_state_; }
  [[nodiscard]] std::span<float> top_state() { return top_state_; }

 private:
  ShardLookups lookups(const tutti::miniapps::Batch& batch);
  [[nodiscard]] std::span<const float> dense(const tutti::miniapps::Batch& batch) const;
  void connect_features(std::span<const float> bottom_output);

  ModelShape shape_;
  tutti::miniapps::Mlp bottom_;
  tutti::miniapps::Mlp top_;
  EmbeddingShard shard_;
  PooledExchange exchange_;
  GradientReducer reducer_;
  StepAgreement agreement_;
  Interaction interaction_;
  std::vector<tutti::kernels::TableLookups> table_lookups_;
  std::vector<tutti::kernels::Pooled<const float>> features_;     ///< the bottom MLP's output, then the tables' vectors
  std::vector<tutti::kernels::Pooled<float>> feature_gradients_;  ///< as features_
  std::vector<float> crossed_;                                    ///< [slice][I]
  std::vector<float> crossed_gradients_;                          ///< as crossed_
  std::vector<float> bottom_gradient_;                            ///< [slice][D]
  std::vector<float> bottom_state_;
  std::vector<float> interaction_state_;
  std::vector<float> top_state_;
};

}  // namespace dlrm
