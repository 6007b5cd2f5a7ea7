// SPDX-License-Identifier: BSD-3-Clause
#include "model.hpp"

#include <algorithm>

#include "common/dense_optimizer.hpp"

namespace dlrm {

namespace mini = tutti::miniapps;

namespace {

void update_dense(std::span<float> parameters, std::span<const float> gradients, std::span<float> state, float rate) {
  if (state.empty()) {
    mini::sgd_update(parameters, gradients, rate);
  } else {
    mini::adagrad_update(parameters, gradients, state, rate);
  }
}

}  // namespace

Model::Model(const tutti::Communicator& comm, ModelShape shape, const Placement& placement,
             tutti::kernels::RowOptimizer optimizer)
    : shape_(std::move(shape)),
      bottom_(shape_.bottom, mini::Activation::relu, shape_.products),
      top_(shape_.top, mini::Activation::sigmoid, shape_.products),
      shard_(placement.tables_of(comm.rank()), shape_.rows, shape_.dim, optimizer),
      exchange_(comm, placement, shape_.dim, shape_.max_batch),
      reducer_(comm),
      agreement_(comm),
      interaction_(shape_.interaction, shape_.products) {
  const auto ranks = static_cast<std::size_t>(comm.size());
  const std::size_t slice = (shape_.max_batch + ranks - 1) / ranks;
  features_.resize(shape_.rows.size() + 1);
  feature_gradients_.resize(features_.size());
  crossed_.resize(slice * interaction_.width());
  crossed_gradients_.resize(slice * interaction_.width());
  bottom_gradient_.resize(slice * shape_.dim);
  table_lookups_.resize(shard_.owned().size());
  if (optimizer != tutti::kernels::RowOptimizer::sgd) {
    bottom_state_.resize(bottom_.parameters().size());
    interaction_state_.resize(interaction_.parameters().size());
    top_state_.resize(top_.parameters().size());
  }
}

ShardLookups Model::lookups(const mini::Batch& batch) {
  for (std::size_t i = 0; i < table_lookups_.size(); ++i) {
    table_lookups_[i] = {batch.tables[i].indices.data(), batch.tables[i].offsets.data(), nullptr};
  }
  return {table_lookups_, tutti::kernels::IndexType::int64, batch.count};
}

std::span<const float> Model::dense(const mini::Batch& batch) const {
  return std::span(batch.dense).first(batch.range.size() * bottom_.input_width());
}

void Model::connect_features(std::span<const float> bottom_output) {
  features_[0] = {bottom_output.data(), shape_.dim};
  feature_gradients_[0] = {bottom_gradient_.data(), shape_.dim};
  std::copy(exchange_.vectors().begin(), exchange_.vectors().end(), features_.begin() + 1);
  std::copy(exchange_.gradients().begin(), exchange_.gradients().end(), feature_gradients_.begin() + 1);
}

std::span<const float> Model::forward(const mini::Batch& batch, PhaseTimer& timer, const std::string& local_error) {
  timer.enter(Stage::data);
  const ShardLookups sparse = local_error.empty() ? lookups(batch) : ShardLookups{};
  agreement_.start(local_error.empty() ? shard_.check(sparse) : local_error);
  timer.enter(Stage::lookup);
  if (!agreement_.bad_here()) {
    shard_.forward(sparse, exchange_.pooled());
  }
  timer.enter(Stage::alltoall);
  agreement_.finish();
  exchange_.start_forward(batch.count);
  timer.enter(Stage::bottom);
  const std::size_t slice = batch.range.size();
  connect_features(bottom_.forward(dense(batch), slice));
  timer.enter(Stage::alltoall);
  exchange_.finish_forward();
  timer.enter(Stage::interaction);
  interaction_.forward(slice, features_, crossed_.data());
  timer.enter(Stage::top);
  return top_.forward(std::span<const float>(crossed_).first(slice * interaction_.width()), slice);
}

void Model::backward(const mini::Batch& batch, std::span<float> prediction_gradient, float rate, PhaseTimer& timer) {
  const std::size_t slice = batch.range.size();
  const std::size_t crossed = slice * interaction_.width();
  timer.enter(Stage::backward);
  top_.backward(std::span<const float>(crossed_).first(crossed), prediction_gradient,
                std::span(crossed_gradients_).first(crossed));
  interaction_.backward(slice, features_, crossed_gradients_.data(), feature_gradients_);
  timer.enter(Stage::alltoall);
  exchange_.start_backward();
  timer.enter(Stage::allreduce);
  reducer_.start(top_.gradients());
  reducer_.start(interaction_.gradients());
  timer.enter(Stage::backward);
  bottom_.backward(dense(batch), std::span(bottom_gradient_).first(slice * shape_.dim), {}, [this](std::size_t) {
    exchange_.progress();
    reducer_.progress();
  });
  timer.enter(Stage::allreduce);
  reducer_.start(bottom_.gradients());
  timer.enter(Stage::alltoall);
  exchange_.finish_backward();
  timer.enter(Stage::update);
  shard_.backward(lookups(batch), exchange_.pooled(), rate);
  timer.enter(Stage::allreduce);
  reducer_.finish();
  timer.enter(Stage::update);
  update_dense(bottom_.parameters(), bottom_.gradients(), bottom_state_, rate);
  update_dense(interaction_.parameters(), interaction_.gradients(), interaction_state_, rate);
  update_dense(top_.parameters(), top_.gradients(), top_state_, rate);
}

void Model::keep_parameters(bool keep) {
  bottom_.keep_parameters(keep);
  interaction_.keep_parameters(keep);
  top_.keep_parameters(keep);
}

}  // namespace dlrm
