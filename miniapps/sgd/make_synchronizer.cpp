// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <tutti/error.hpp>
#include <tutti/parameter_server.hpp>
#include <tutti/sharded_optimizer.hpp>

#include "blocking_sync.hpp"
#include "byte_stream.hpp"
#include "reducer_sync.hpp"
#include "synchronizer.hpp"

namespace sgd {
namespace {

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

/// All parameters lie as rows of a ParameterServer's table. A step pulls them, and pushes this rank's part of the
/// gradient, which is applied at once. With a fence a step, all ranks pull the same values, and the losses are those of
/// the other modes but for the order of sums; without one, ranks go on with what they find (Li et al., OSDI 2014).
class ServerSync : public Synchronizer<float> {
 public:
  ServerSync(const tutti::Communicator& comm, const Options& options, std::vector<Tensor<float>> tensors);

  void begin_step(StepTimer& timer) override;
  void ready(std::size_t i, StepTimer& timer) override;
  void finish(StepTimer& timer) override { (void)timer; }
  void update(double learning_rate, StepTimer& timer) override;
  void settle(StepTimer& timer) override;
  [[nodiscard]] double bytes_per_step() const override;
  [[nodiscard]] std::string details() const override;
  [[nodiscard]] std::vector<std::byte> save_shared() const override;
  void load_shared(std::span<const std::byte> state) override;

 private:
  void pull();
  /// This rank's rows of the table become those of `values`. Collective.
  void fill(std::span<const float> values);

  std::vector<Tensor<float>> tensors_;
  std::size_t fence_every_;
  std::size_t steps_ = 0;
  std::vector<std::int64_t> rows_;  ///< all of them
  std::vector<float> values_;       ///< all tensors, and zeros up to whole rows
  std::unique_ptr<tutti::ParameterServer> server_;
};

constexpr std::size_t row_values = 256;

void gather(const std::vector<Tensor<float>>& tensors, std::span<float> Tensor<float>::*part, std::vector<float>& all) {
  auto at = all.begin();
  for (const auto& tensor : tensors) {
    at = std::copy((tensor.*part).begin(), (tensor.*part).end(), at);
  }
}

ServerSync::ServerSync(const tutti::Communicator& comm, const Options& options, std::vector<Tensor<float>> tensors)
    : tensors_(std::move(tensors)),
      fence_every_(options.server_fence),
      rows_((total_values(tensors_) + row_values - 1) / row_values),
      values_(rows_.size() * row_values) {
  std::iota(rows_.begin(), rows_.end(), 0);
  server_ = std::make_unique<tutti::ParameterServer>(comm, static_cast<std::int64_t>(rows_.size()), row_values);
  broadcast_parameters(comm, tensors_);
  gather(tensors_, &Tensor<float>::value, values_);
  fill(values_);
}

void ServerSync::fill(std::span<const float> values) {
  server_->fence();
  const auto mine = server_->local();
  const auto* from = values.data() + static_cast<std::size_t>(server_->first_row()) * row_values;
  std::copy(from, from + mine.size(), mine.begin());
  server_->fence();
}

void ServerSync::pull() {
  server_->pull(rows_, values_);
  const float* from = values_.data();
  for (const auto& tensor : tensors_) {
    std::copy(from, from + tensor.value.size(), tensor.value.begin());
    from += tensor.value.size();
  }
}

void ServerSync::begin_step(StepTimer& timer) {
  timer.enter(Stage::communication);
  pull();
  if (fence_every_ == 1) {
    server_->fence();  // nobody pushes before all have pulled
  }
}

void ServerSync::ready(std::size_t i, StepTimer& timer) {
  (void)i;
  timer.enter(Stage::communication);
  server_->progress();
}

void ServerSync::update(double learning_rate, StepTimer& timer) {
  timer.enter(Stage::communication);
  gather(tensors_, &Tensor<float>::gradient, values_);
  std::fill(values_.begin() + static_cast<std::ptrdiff_t>(total_values(tensors_)), values_.end(), 0.0F);
  server_->push(rows_, values_, static_cast<float>(learning_rate));
  if (fence_every_ > 0 && ++steps_ % fence_every_ == 0) {
    server_->fence();
  }
}

void ServerSync::settle(StepTimer& timer) {
  timer.enter(Stage::communication);
  server_->fence();
  pull();
}

double ServerSync::bytes_per_step() const { return 2.0 * static_cast<double>(values_.size() * sizeof(float)); }

std::string ServerSync::details() const {
  return fmt::format("  {} rows of {} values, reached by {}\n", rows_.size(), row_values, server_->path());
}

std::vector<std::byte> ServerSync::save_shared() const {
  std::vector<float> all(values_.size());
  server_->fence();
  server_->pull(rows_, all);
  server_->fence();
  std::vector<std::byte> block;
  append_bytes(block, std::span<const float>(all));
  return block;
}

void ServerSync::load_shared(std::span<const std::byte> state) {
  std::vector<float> all(values_.size());
  take_bytes(state, std::span<float>(all));
  fill(all);
}

}  // namespace

template <typename Float>
std::unique_ptr<Synchronizer<Float>> make_synchronizer(const tutti::Communicator& comm, const Options& options,
                                                       const std::vector<Tensor<Float>>& tensors) {
  if (options.mode == "naive" || options.mode == "flat") {
    return std::make_unique<BlockingSync<Float>>(comm, options, tensors);
  }
  if (options.mode == "local") {
    return std::make_unique<LocalSync<Float>>(comm, options, tensors);
  }
  if (options.mode == "sharded") {
    return std::make_unique<ShardedSync<Float>>(comm, options, tensors);
  }
  if (options.mode != "parameter-server") {
    return std::make_unique<ReplicatedSync<Float>>(comm, options, tensors);
  }
  if constexpr (std::is_same_v<Float, float>) {
    return std::make_unique<ServerSync>(comm, options, tensors);
  } else {
    throw tutti::Error(tutti::ErrorCode::invalid_argument, "--mode=parameter-server holds fp32 parameters only");
  }
}

template std::unique_ptr<Synchronizer<float>> make_synchronizer(const tutti::Communicator&, const Options&,
                                                                const std::vector<Tensor<float>>&);
template std::unique_ptr<Synchronizer<double>> make_synchronizer(const tutti::Communicator&, const Options&,
                                                                 const std::vector<Tensor<double>>&);

}  // namespace sgd
