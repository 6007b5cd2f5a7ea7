// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tutti/sharded_optimizer.hpp>

#include "reducer_sync.hpp"

namespace sgd {

/// Each rank reduces and updates its part of every bucket, with its part of the optimizer's state, and the parameters
/// are gathered. The update counts as communication: most of it is the gathering.
template <typename Float>
class ShardedSync : public ReducerSync<Float> {
 public:
  ShardedSync(const tutti::Communicator& comm, const Options& options, const std::vector<Tensor<Float>>& tensors)
      : ReducerSync<Float>(comm, options, tensors, sharding(options)),
        clip_(options.clip),
        gathered_bytes_(static_cast<double>(total_values(tensors) * sizeof(Float)) / comm.size()),
        optimizer_(this->reducer(), comm, dense_update_of(options)) {}

  void update(double learning_rate, StepTimer& timer) override {
    timer.enter(Stage::communication);
    optimizer_.step(learning_rate, clip_);
  }
  [[nodiscard]] double bytes_per_step() const override {
    return ReducerSync<Float>::bytes_per_step() + gathered_bytes_;
  }
  [[nodiscard]] std::vector<std::byte> save_shared() const override { return optimizer_.save(); }
  void load_shared(std::span<const std::byte> state) override { optimizer_.load(state); }

 private:
  [[nodiscard]] static tutti::ReducerOptions sharding(const Options& options) {
    auto chosen = reducer_options(options);
    chosen.hook = tutti::sharding_hook();
    return chosen;
  }

  double clip_;
  double gathered_bytes_;
  tutti::ShardedOptimizer optimizer_;
};

}  // namespace sgd
