// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <tutti/communicator.hpp>
#include <tutti/embedding_collection.hpp>
#include <tutti/gradient_reducer.hpp>
#include <tutti/kernels/optimizers.hpp>
#include <vector>

#include "common/data_source.hpp"
#include "common/mlp.hpp"
#include "interaction.hpp"
#include "load_meter.hpp"
#include "model_shape.hpp"
#include "phases.hpp"

namespace dlrm {

/// All that is dense, in the order of the forward pass. An interaction without parameters is no stage.
enum class DenseStage : std::size_t { bottom, interaction, top };
inline constexpr std::size_t dense_stages = 3;

/// A step of what is dense, by the optimizer of the tables.
[[nodiscard]] tutti::kernels::DenseUpdate dense_update_of(const tutti::EmbeddingCollectionOptions& tables, float rate);

/// DLRM, hybrid parallel: tables divided over the ranks by a plan, and a replica of all that is dense, which computes
/// this rank's slice of each batch. All calls are collective over the communicator; every rank passes the same global
/// batch. Where the tables are on a GPU (EmbeddingCollectionOptions::memory) it only keeps what is saved and restored,
/// and a DeviceEngine computes.
class Model {
 public:
  Model(const tutti::Communicator& comm, ModelShape shape, std::span<const tutti::EmbeddingTableConfig> tables,
        tutti::ShardingPlan plan, const tutti::EmbeddingCollectionOptions& options);

  /// Begins the next forward's input while the batch before it is in work, with two slots: backward then looks its rows
  /// up right after its own update, so that the vectors travel beside the dense part's reduction. Results are those of
  /// a forward without it. The batch stays unchanged until its backward.
  void prefetch(const tutti::miniapps::Batch& batch, const std::string& local_error);

  /// Predictions for this rank's slice; they live here until the next call. Checks the indices first: where any rank
  /// finds one out of range all throw, before anything is exchanged. `local_error`: what else is wrong with the batch
  /// on this rank.
  std::span<const float> forward(const tutti::miniapps::Batch& batch, PhaseTimer& timer,
                                 const std::string& local_error = {});

  /// The first part of a forward, up to the dense part; train() is the rest.
  void start_forward(const tutti::miniapps::Batch& batch, PhaseTimer& timer, const std::string& local_error);

  /// The gradient of the predictions for these samples of this rank's slice.
  using GradientOf = std::function<std::span<float>(tutti::miniapps::SampleRange, std::span<const float>)>;
  /// After start_forward of the same batch: the dense part block by block, forward and backward, as ModelShape::blocks
  /// says, then the update. What is computed depends on the blocks alone, not on how many of them a rank has.
  void train(const tutti::miniapps::Batch& batch, const GradientOf& gradient_of, float rate, PhaseTimer& timer);

  /// After forward of the same batch: from the gradient of the predictions (overwritten) to updated tables and dense
  /// parameters.
  void backward(const tutti::miniapps::Batch& batch, std::span<float> prediction_gradient, float rate,
                PhaseTimer& timer);

  [[nodiscard]] tutti::miniapps::Mlp& bottom() { return bottom_; }
  [[nodiscard]] tutti::miniapps::Mlp& top() { return top_; }
  [[nodiscard]] Interaction& interaction() { return interaction_; }
  [[nodiscard]] tutti::EmbeddingCollection& embeddings() { return embeddings_; }
  [[nodiscard]] const ModelShape& shape() const { return shape_; }
  [[nodiscard]] LoadMeter& load_meter() { return load_meter_; }
  /// As BasicMlp::keep_parameters, for all that is dense.
  void keep_parameters(bool keep);
  /// The optimizer's state of the bottom MLP, the interaction and the top MLP; empty for sgd.
  [[nodiscard]] std::span<float> bottom_state() { return bottom_state_; }
  [[nodiscard]] std::span<float> interaction_state() { return interaction_state_; }
  [[nodiscard]] std::span<float> top_state() { return top_state_; }

 private:
  /// A batch whose forward has begun before its turn.
  struct Ahead {
    const tutti::miniapps::Batch* batch = nullptr;
    std::size_t slot = 0;
    std::exception_ptr failure{};  ///< to be thrown at its turn
    bool sent = false;
  };
  void make_reducer(const tutti::Communicator& comm);
  void gradients_ready(DenseStage stage);
  void start_input(std::size_t slot, const tutti::miniapps::Batch& batch, const std::string& local_error);
  void look_up_ahead(PhaseTimer& timer);
  [[nodiscard]] std::span<const float> dense(const tutti::miniapps::Batch& batch,
                                             tutti::miniapps::SampleRange range) const;
  [[nodiscard]] std::vector<tutti::miniapps::SampleRange> blocks(const tutti::miniapps::Batch& batch) const;
  void connect_features(tutti::miniapps::SampleRange range, std::span<const float> bottom_output);
  std::span<const float> forward_block(const tutti::miniapps::Batch& batch, tutti::miniapps::SampleRange range,
                                       PhaseTimer& timer);
  void backward_block(const tutti::miniapps::Batch& batch, tutti::miniapps::SampleRange range,
                      std::span<float> prediction_gradient, bool is_last, PhaseTimer& timer);
  void finish_backward(float rate, PhaseTimer& timer);

  const tutti::Communicator* comm_;
  ModelShape shape_;
  tutti::EmbeddingCollection embeddings_;
  LoadMeter load_meter_;
  tutti::miniapps::Mlp bottom_;
  tutti::miniapps::Mlp top_;
  Interaction interaction_;
  std::array<std::vector<tutti::kernels::TableLookups>, 2> lookups_;  ///< of each slot
  std::size_t slot_ = 0;                                              ///< of the batch in work
  std::optional<Ahead> ahead_;
  const std::vector<tutti::kernels::Pooled<const float>>* vectors_ = nullptr;  ///< the tables'; null: under way
  std::vector<tutti::kernels::Pooled<const float>> features_;     ///< of a block: the bottom MLP's output, the vectors
  std::vector<tutti::kernels::Pooled<float>> feature_gradients_;  ///< as features_
  std::vector<float> predictions_;                                ///< of the slice, where it has several blocks
  std::vector<float> crossed_;                                    ///< [slice][I]
  std::vector<float> crossed_gradients_;                          ///< as crossed_
  std::vector<float> bottom_gradient_;                            ///< [slice][D]
  std::optional<tutti::GradientReducer> reducer_;  ///< of the dense gradients, by DenseStage; none where a GPU computes
  std::vector<float> bottom_state_;
  std::vector<float> interaction_state_;
  std::vector<float> top_state_;
};

}  // namespace dlrm
