// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <tutti/request.hpp>
#include <vector>

#include "../engine.hpp"
#include "common/device/dense_kernels.hpp"
#include "common/loss.hpp"
#include "dense_batch.hpp"
#include "dense_parameters.hpp"
#include "device_interaction.hpp"
#include "step_graph.hpp"

namespace dlrm {

struct DeviceEngineOptions {
  tutti::miniapps::LossOptions loss;
  bool bfloat16 = false;  ///< operands of products
  bool tf32 = false;      ///< products of float32 may be rounded to TF32
  bool graph = false;     ///< steps that are alike are launched as a graph
};

/// A GPU: a whole step is on one stream, in the memory of the GPU, and the host is at most two batches ahead. Exchanges
/// run beside it: vectors beside the bottom MLP, the dense gradients of each stage beside the backward pass of the
/// next. Batches are checked and agreed on on the host, and copied beside the steps before. The model's tables are on
/// the GPU (EmbeddingCollectionOptions::memory) with two slots; its dense parameters are a copy, see Engine.
class DeviceEngine final : public Engine {
 public:
  /// The GPU and the model outlive the engine.
  DeviceEngine(const tutti::Communicator& comm, const Gpu& gpu, Model& model, const DeviceEngineOptions& options);
  ~DeviceEngine() override;

  Model& model() override { return *model_; }
  void take_parameters() override { dense_.take(); }
  void store_parameters() override { dense_.store(); }
  std::span<const float> predict(const tutti::miniapps::Batch& batch, PhaseTimer& timer,
                                 const std::string& local_error) override;
  void start_step(const tutti::miniapps::Batch& batch, PhaseTimer& timer, const std::string& local_error) override;
  void finish_step(const tutti::miniapps::Batch& batch, float rate, PhaseTimer& timer) override;
  /// Begins the exchange of the batch's indices, which goes on while the step is put on the stream.
  void prefetch(const tutti::miniapps::Batch& batch, const std::string& local_error) override;
  double take_loss() override;
  void keep_parameters(bool keep) override;

  /// Steps that were launched as graphs.
  [[nodiscard]] std::uint64_t graph_steps() const { return graph_steps_; }

 private:
  /// A batch whose input was begun.
  struct Ahead {
    const tutti::miniapps::Batch* batch = nullptr;
    std::size_t slot = 0;
  };
  void begin_input(const tutti::miniapps::Batch& batch, const std::string& local_error, std::size_t slot);
  void load(const tutti::miniapps::Batch& batch, const std::string& local_error);
  /// What follows is put on the stream; all sizes are those of the slot's batch.
  const float* enqueue_forward(std::size_t samples);
  void enqueue_step(const tutti::miniapps::Batch& batch, float rate);
  void enqueue_backward(std::size_t samples, float rate);
  /// Sums the gradients of a stage that are on the stream now, on a stream of the communicator.
  void start_sum(DenseStage stage);
  void finish_sums();
  [[nodiscard]] std::uint64_t key_of(float rate) const;
  void drop_graphs();

  [[nodiscard]] StepGraph::Mode agreed_mode(StepGraph::Mode mine) const;

  const tutti::Communicator* comm_;
  std::optional<tutti::Communicator> dense_comm_;  ///< of several ranks; so its sums do not wait for other exchanges
  const Gpu* gpu_;
  Model* model_;
  DeviceEngineOptions options_;
  std::size_t max_samples_;
  tutti::DeviceStream copies_;
  tutti::miniapps::device::Cublas products_;
  DenseParameters dense_;
  std::unique_ptr<tutti::miniapps::MlpEngine<float>> bottom_;
  std::unique_ptr<tutti::miniapps::MlpEngine<float>> top_;
  DeviceInteraction interaction_;
  std::vector<DenseBatch> batches_;  ///< of each slot
  std::size_t slot_ = 0;             ///< of the batch in work
  std::optional<Ahead> ahead_;
  std::array<tutti::Request, dense_stages> sums_;
  std::vector<tutti::kernels::TableLookups> lookups_[2];
  std::vector<tutti::kernels::Pooled<const float>> features_;
  std::vector<tutti::kernels::Pooled<float>> feature_gradients_;
  tutti::miniapps::device::Array<float> crossed_;           ///< [samples][I]
  tutti::miniapps::device::Array<float> crossed_gradient_;  ///< as crossed_
  tutti::miniapps::device::Array<float> bottom_gradient_;   ///< [samples][D]
  tutti::miniapps::device::Array<float> prediction_gradient_;
  tutti::miniapps::device::Array<double> loss_partials_;
  tutti::miniapps::device::Array<double> loss_sum_;
  tutti::miniapps::device::PinnedArray<double> loss_on_host_;
  tutti::miniapps::device::PinnedArray<float> predictions_;
  std::vector<StepGraph> graphs_;  ///< of each slot
  std::uint64_t graph_steps_ = 0;
};

}  // namespace dlrm
