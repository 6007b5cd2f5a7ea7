// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tutti/collectives/allreduce.hpp>
#include <tutti/collectives/bcast.hpp>

#include "optimizer.hpp"
#include "synchronizer.hpp"

namespace sgd {

/// Rank 0's parameters for all. Collective; blocking.
template <typename Float>
void broadcast_parameters(const tutti::Communicator& comm, const std::vector<Tensor<Float>>& tensors) {
  for (const auto& tensor : tensors) {
    tutti::bcast(comm, tutti::Buffer(tensor.value), 0);
  }
}

/// Gradients are summed when backward is over, by blocking calls: one of each tensor (naive), or one of a buffer that
/// they are copied to and back from (flat).
template <typename Float>
class BlockingSync : public Synchronizer<Float> {
 public:
  BlockingSync(const tutti::Communicator& comm, const Options& options, std::vector<Tensor<Float>> tensors)
      : comm_(&comm), tensors_(tensors), optimizer_(dense_update_of(options), std::move(tensors), options.clip) {
    broadcast_parameters(comm, tensors_);
    if (options.mode == "flat") {
      flat_.resize(total_values(tensors_));
    }
  }

  void finish(StepTimer& timer) override {
    timer.enter(Stage::communication);
    if (flat_.empty()) {
      for (const auto& tensor : tensors_) {
        tutti::allreduce(*comm_, tutti::Buffer(tensor.gradient), tutti::sum, {.memory = tutti::MemoryKind::host});
      }
    } else {
      reduce_flat();
    }
  }
  void update(double learning_rate, StepTimer& timer) override {
    timer.enter(Stage::update);
    optimizer_.step(learning_rate);
  }
  [[nodiscard]] double bytes_per_step() const override {
    return static_cast<double>(total_values(tensors_) * sizeof(Float));
  }
  [[nodiscard]] std::vector<std::byte> save_shared() const override { return optimizer_.save(); }
  void load_shared(std::span<const std::byte> state) override { optimizer_.load(state); }

 private:
  void reduce_flat() {
    auto at = flat_.begin();
    for (const auto& tensor : tensors_) {
      at = std::copy(tensor.gradient.begin(), tensor.gradient.end(), at);
    }
    tutti::allreduce(*comm_, tutti::Buffer(flat_), tutti::sum, {.memory = tutti::MemoryKind::host});
    const Float* from = flat_.data();
    for (const auto& tensor : tensors_) {
      std::copy(from, from + tensor.gradient.size(), tensor.gradient.begin());
      from += tensor.gradient.size();
    }
  }

  const tutti::Communicator* comm_;
  std::vector<Tensor<Float>> tensors_;
  Optimizer<Float> optimizer_;
  std::vector<Float> flat_;
};

}  // namespace sgd
