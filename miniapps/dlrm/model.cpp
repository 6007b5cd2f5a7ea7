// SPDX-License-Identifier: BSD-3-Clause
#include "model.hpp"

#include <algorithm>

#include "agreed.hpp"

namespace dlrm {

namespace mini = tutti::miniapps;

tutti::kernels::DenseUpdate dense_update_of(const tutti::EmbeddingCollectionOptions& options, float rate) {
  using tutti::kernels::DenseOptimizer;
  using tutti::kernels::RowOptimizer;
  tutti::kernels::DenseUpdate update{.learning_rate = static_cast<double>(rate),
                                     .epsilon = static_cast<double>(options.epsilon)};
  update.optimizer = options.optimizer == RowOptimizer::sgd    ? DenseOptimizer::sgd
                     : options.optimizer == RowOptimizer::adam ? DenseOptimizer::adam
                                                               : DenseOptimizer::adagrad;
  return update;
}

Model::Model(const tutti::Communicator& comm, ModelShape shape, std::span<const tutti::EmbeddingTableConfig> tables,
             tutti::ShardingPlan plan, const tutti::EmbeddingCollectionOptions& options)
    : shape_(std::move(shape)),
      embeddings_(comm, tables, std::move(plan), options),
      bottom_(shape_.bottom, mini::Activation::relu, shape_.products),
      top_(shape_.top, mini::Activation::sigmoid, shape_.products),
      interaction_(shape_.interaction, shape_.products) {
  const auto ranks = static_cast<std::size_t>(comm.size());
  const std::size_t slice = (shape_.max_batch + ranks - 1) / ranks;
  features_.resize(shape_.rows.size() + 1);
  feature_gradients_.resize(features_.size());
  if (options.memory == tutti::MemoryKind::host) {
    crossed_.resize(slice * interaction_.width());
    crossed_gradients_.resize(slice * interaction_.width());
    bottom_gradient_.resize(slice * shape_.dim);
    make_reducer(comm);
  }
  const std::size_t states = tutti::kernels::state_values(dense_update_of(options, 0));
  bottom_state_.resize(states * bottom_.parameters().size());
  interaction_state_.resize(states * interaction_.parameters().size());
  top_state_.resize(states * top_.parameters().size());
}

/// A bucket for each stage, reduced where it is: top and interaction travel while the bottom's backward computes.
void Model::make_reducer(const tutti::Communicator& comm) {
  tutti::ReducerOptions options;
  options.bucket_bytes = options.first_bucket_bytes = 1;
  options.op = tutti::ReduceKind::sum;
  options.rebuild = false;
  reducer_.emplace(comm, options);
  const auto add = [&](const char* name, std::span<float> gradients) {
    if (!gradients.empty()) {
      reducer_->add({.name = name, .shape = {gradients.size()}, .gradient = gradients.data()});
    }
  };
  add("bottom", bottom_.gradients());
  add("interaction", interaction_.gradients());
  add("top", top_.gradients());
  reducer_->prepare();
}

void Model::gradients_ready(DenseStage stage) {
  const bool has_interaction = !interaction_.gradients().empty();
  if (stage == DenseStage::interaction && !has_interaction) {
    return;
  }
  const auto number = static_cast<std::size_t>(stage);
  reducer_->ready(stage == DenseStage::top && !has_interaction ? number - 1 : number);
}

void Model::start_input(std::size_t slot, const mini::Batch& batch, const std::string& local_error) {
  embeddings_.start_input(slot, make_input(embeddings_, batch, local_error, lookups_[slot]));
}

void Model::prefetch(const mini::Batch& batch, const std::string& local_error) {
  ahead_ = Ahead{&batch, 1 - slot_};
  start_input(ahead_->slot, batch, local_error);
}

void Model::look_up_ahead(PhaseTimer& timer) {
  try {
    timer.enter(Stage::lookup);
    agreed([&] { embeddings_.look_up(ahead_->slot); });
    timer.enter(Stage::alltoall);
    agreed([&] { embeddings_.send_vectors(ahead_->slot); });
  } catch (const mini::AgreedError&) {
    ahead_->failure = std::current_exception();
  }
  ahead_->sent = true;
}

std::span<const float> Model::dense(const mini::Batch& batch) const {
  return std::span(batch.dense).first(batch.range.size() * bottom_.input_width());
}

void Model::connect_features(std::span<const float> bottom_output,
                             const std::vector<tutti::kernels::Pooled<const float>>& vectors) {
  features_[0] = {bottom_output.data(), shape_.dim};
  feature_gradients_[0] = {bottom_gradient_.data(), shape_.dim};
  const auto& gradients = embeddings_.gradients(slot_);
  std::copy(vectors.begin(), vectors.end(), features_.begin() + 1);
  std::copy(gradients.begin(), gradients.end(), feature_gradients_.begin() + 1);
}

void Model::start_forward(const mini::Batch& batch, PhaseTimer& timer, const std::string& local_error) {
  if (ahead_ && ahead_->batch == &batch) {
    slot_ = ahead_->slot;
    const bool sent = ahead_->sent;
    const std::exception_ptr failure = ahead_->failure;
    ahead_.reset();
    if (failure) {
      std::rethrow_exception(failure);
    }
    if (sent) {
      return;
    }
  } else {
    slot_ = ahead_ ? 1 - ahead_->slot : 0;
    timer.enter(Stage::input);
    start_input(slot_, batch, local_error);
  }
  timer.enter(Stage::lookup);
  agreed([&] { embeddings_.look_up(slot_); });
  timer.enter(Stage::alltoall);
  agreed([&] { embeddings_.send_vectors(slot_); });
}

std::span<const float> Model::forward(const mini::Batch& batch, PhaseTimer& timer, const std::string& local_error) {
  start_forward(batch, timer, local_error);
  timer.enter(Stage::bottom);
  const std::size_t slice = batch.range.size();
  const auto bottom_output = bottom_.forward(dense(batch), slice);
  timer.enter(Stage::alltoall);
  connect_features(bottom_output, embeddings_.finish_forward(slot_));
  timer.enter(Stage::interaction);
  interaction_.forward(slice, features_, crossed_.data());
  timer.enter(Stage::top);
  return top_.forward(std::span<const float>(crossed_).first(slice * interaction_.width()), slice);
}

void Model::backward(const mini::Batch& batch, std::span<float> prediction_gradient, float rate, PhaseTimer& timer) {
  const std::size_t slice = batch.range.size();
  const std::size_t crossed = slice * interaction_.width();
  load_meter_.look(embeddings_, slot_);
  timer.enter(Stage::backward);
  top_.backward(std::span<const float>(crossed_).first(crossed), prediction_gradient,
                std::span(crossed_gradients_).first(crossed));
  interaction_.backward(slice, features_, crossed_gradients_.data(), feature_gradients_);
  timer.enter(Stage::alltoall);
  embeddings_.start_backward(slot_);
  timer.enter(Stage::allreduce);
  gradients_ready(DenseStage::top);
  gradients_ready(DenseStage::interaction);
  timer.enter(Stage::backward);
  bottom_.backward(dense(batch), std::span(bottom_gradient_).first(slice * shape_.dim), {}, [this](std::size_t) {
    embeddings_.progress();
    reducer_->progress();
  });
  timer.enter(Stage::allreduce);
  gradients_ready(DenseStage::bottom);
  timer.enter(Stage::alltoall);
  embeddings_.receive_gradients(slot_);
  timer.enter(Stage::update);
  embeddings_.update(slot_, rate);
  if (ahead_) {
    look_up_ahead(timer);
  }
  timer.enter(Stage::allreduce);
  reducer_->wait();
  timer.enter(Stage::update);
  const auto rule = dense_update_of(embeddings_.options(), rate);
  const std::uint64_t step = embeddings_.steps();
  tutti::kernels::dense_update(rule, step, bottom_.parameters(), bottom_.gradients(), bottom_state_);
  tutti::kernels::dense_update(rule, step, interaction_.parameters(), interaction_.gradients(), interaction_state_);
  tutti::kernels::dense_update(rule, step, top_.parameters(), top_.gradients(), top_state_);
}

void Model::keep_parameters(bool keep) {
  bottom_.keep_parameters(keep);
  interaction_.keep_parameters(keep);
  top_.keep_parameters(keep);
}

}  // namespace dlrm
