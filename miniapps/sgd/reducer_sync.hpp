// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tutti/gradient_reducer.hpp>

#include "optimizer.hpp"
#include "synchronizer.hpp"

namespace sgd {

/// The reducer's options that the program's flags give: sums, since gradients are divided by the global batch already.
[[nodiscard]] tutti::ReducerOptions reducer_options(const Options& options);

/// Gradients go through a GradientReducer: buckets launched when backward is over (bucketed), or while it goes on.
template <typename Float>
class ReducerSync : public Synchronizer<Float> {
 public:
  ReducerSync(const tutti::Communicator& comm, const Options& options, const std::vector<Tensor<Float>>& tensors,
              const tutti::ReducerOptions& reducer_options);

  void begin_pass(bool last) override;
  void ready(std::size_t i, StepTimer& timer) override;
  void finish(StepTimer& timer) override;
  [[nodiscard]] bool join(StepTimer& timer) override;
  [[nodiscard]] double bytes_per_step() const override;
  [[nodiscard]] std::string details() const override;
  [[nodiscard]] std::vector<std::byte> save_local() const override { return reducer_.save(); }
  void load_local(std::span<const std::byte> state) override { reducer_.load(state); }
  [[nodiscard]] bool has_local_state() const override { return feeds_back_; }

 protected:
  [[nodiscard]] tutti::GradientReducer& reducer() { return reducer_; }

 private:
  bool overlaps_;
  bool adds_blocks_;  ///< itself, of all passes
  bool feeds_back_;
  bool prints_map_;
  tutti::GradientReducer reducer_;
};

/// With the same update on every rank.
template <typename Float>
class ReplicatedSync : public ReducerSync<Float> {
 public:
  ReplicatedSync(const tutti::Communicator& comm, const Options& options, const std::vector<Tensor<Float>>& tensors)
      : ReducerSync<Float>(comm, options, tensors, reducer_options(options)),
        optimizer_(dense_update_of(options), tensors, options.clip) {}

  void update(double learning_rate, StepTimer& timer) override {
    timer.enter(Stage::update);
    optimizer_.step(learning_rate);
  }
  [[nodiscard]] std::vector<std::byte> save_shared() const override { return optimizer_.save(); }
  void load_shared(std::span<const std::byte> state) override { optimizer_.load(state); }

 private:
  Optimizer<Float> optimizer_;
};

extern template class ReducerSync<float>;
extern template class ReducerSync<double>;

}  // namespace sgd
