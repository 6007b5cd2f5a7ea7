// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "blocking_sync.hpp"
#include "byte_stream.hpp"

namespace sgd {

/// Local SGD: each rank takes `local_steps` steps with its own samples, then parameters are averaged; the optimizer's
/// state stays local. Counterpart: Stich, Local SGD converges fast and communicates little, 2019, Algorithm 1.
template <typename Float>
class LocalSync : public Synchronizer<Float> {
 public:
  LocalSync(const tutti::Communicator& comm, const Options& options, std::vector<Tensor<Float>> tensors)
      : comm_(&comm),
        tensors_(tensors),
        optimizer_(dense_update_of(options), std::move(tensors), options.clip),
        period_(options.local_steps),
        values_(total_values(tensors_)) {
    broadcast_parameters(comm, tensors_);
  }

  void finish(StepTimer& timer) override { (void)timer; }
  void update(double learning_rate, StepTimer& timer) override {
    timer.enter(Stage::update);
    optimizer_.step(learning_rate);
    if (++since_ == period_) {
      settle(timer);
    }
  }
  void settle(StepTimer& timer) override {
    if (since_ == 0) {
      return;
    }
    timer.enter(Stage::communication);
    since_ = 0;
    auto at = values_.begin();
    for (const auto& tensor : tensors_) {
      at = std::copy(tensor.value.begin(), tensor.value.end(), at);
    }
    tutti::allreduce(*comm_, tutti::Buffer(values_), tutti::avg, {.memory = tutti::MemoryKind::host});
    const Float* from = values_.data();
    for (const auto& tensor : tensors_) {
      std::copy(from, from + tensor.value.size(), tensor.value.begin());
      from += tensor.value.size();
    }
  }
  [[nodiscard]] bool local_mean() const override { return true; }
  [[nodiscard]] double bytes_per_step() const override {
    return static_cast<double>(values_.size() * sizeof(Float)) / static_cast<double>(period_);
  }
  [[nodiscard]] std::vector<std::byte> save_local() const override {
    auto block = optimizer_.save();
    append_bytes(block, std::span(&since_, 1));
    return block;
  }
  void load_local(std::span<const std::byte> state) override {
    optimizer_.load(state.first(state.size() - std::min(state.size(), sizeof(since_))));
    auto last = state.last(std::min(state.size(), sizeof(since_)));
    take_bytes(last, std::span(&since_, 1));
  }
  [[nodiscard]] bool replicas_differ() const override { return true; }
  [[nodiscard]] bool has_local_state() const override { return true; }

 private:
  const tutti::Communicator* comm_;
  std::vector<Tensor<Float>> tensors_;
  Optimizer<Float> optimizer_;
  std::size_t period_;
  std::size_t since_ = 0;  ///< steps after the last average
  std::vector<Float> values_;
};

}  // namespace sgd
