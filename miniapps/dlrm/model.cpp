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
    : comm_(&comm),
      shape_(std::move(shape)),
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
  options.blocks = shape_.blocks;
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

std::span<const float> Model::dense(const mini::Batch& batch, mini::SampleRange range) const {
  const std::size_t width = bottom_.input_width();
  return std::span(batch.dense).subspan(range.begin * width, range.size() * width);
}

/// In samples of this rank's slice.
std::vector<mini::SampleRange> Model::blocks(const mini::Batch& batch) const {
  if (shape_.blocks == 0) return {{0, batch.range.size()}};
  const auto mine = tutti::sample_slice(shape_.blocks, comm_->rank(), comm_->size());
  std::vector<mini::SampleRange> ranges;
  for (std::size_t b = mine.begin; b < mine.end; ++b) {
    const auto block = tutti::sample_slice(batch.count, static_cast<int>(b), static_cast<int>(shape_.blocks));
    ranges.push_back({block.begin - batch.range.begin, block.end - batch.range.begin});
  }
  return ranges;
}

void Model::connect_features(mini::SampleRange range, std::span<const float> bottom_output) {
  const auto part = [range](auto whole) {
    whole.data += range.begin * whole.stride;
    return whole;
  };
  features_[0] = {bottom_output.data(), shape_.dim};
  feature_gradients_[0] = {bottom_gradient_.data(), shape_.dim};
  const auto& gradients = embeddings_.gradients(slot_);
  std::transform(vectors_->begin(), vectors_->end(), features_.begin() + 1, part);
  std::transform(gradients.begin(), gradients.end(), feature_gradients_.begin() + 1, part);
}

void Model::start_forward(const mini::Batch& batch, PhaseTimer& timer, const std::string& local_error) {
  vectors_ = nullptr;
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

std::span<const float> Model::forward_block(const mini::Batch& batch, mini::SampleRange range, PhaseTimer& timer) {
  timer.enter(Stage::bottom);
  const auto bottom_output = bottom_.forward(dense(batch, range), range.size());
  timer.enter(Stage::alltoall);
  if (vectors_ == nullptr) {
    vectors_ = &embeddings_.finish_forward(slot_);
  }
  connect_features(range, bottom_output);
  timer.enter(Stage::interaction);
  interaction_.forward(range.size(), features_, crossed_.data());
  timer.enter(Stage::top);
  return top_.forward(std::span<const float>(crossed_).first(range.size() * interaction_.width()), range.size());
}

std::span<const float> Model::forward(const mini::Batch& batch, PhaseTimer& timer, const std::string& local_error) {
  start_forward(batch, timer, local_error);
  const auto ranges = blocks(batch);
  if (ranges.size() == 1) {
    return forward_block(batch, ranges[0], timer);
  }
  predictions_.clear();
  for (const mini::SampleRange range : ranges) {
    const auto predictions = forward_block(batch, range, timer);
    predictions_.insert(predictions_.end(), predictions.begin(), predictions.end());
  }
  return predictions_;
}

void Model::backward_block(const mini::Batch& batch, mini::SampleRange range, std::span<float> prediction_gradient,
                           bool is_last, PhaseTimer& timer) {
  const std::size_t crossed = range.size() * interaction_.width();
  timer.enter(Stage::backward);
  top_.backward(std::span<const float>(crossed_).first(crossed), prediction_gradient,
                std::span(crossed_gradients_).first(crossed));
  interaction_.backward(range.size(), features_, crossed_gradients_.data(), feature_gradients_);
  if (is_last) {
    timer.enter(Stage::alltoall);
    embeddings_.start_backward(slot_);
  }
  timer.enter(Stage::allreduce);
  gradients_ready(DenseStage::top);
  gradients_ready(DenseStage::interaction);
  timer.enter(Stage::backward);
  bottom_.backward(dense(batch, range), std::span(bottom_gradient_).first(range.size() * shape_.dim), {},
                   [this](std::size_t) {
                     embeddings_.progress();
                     reducer_->progress();
                   });
  timer.enter(Stage::allreduce);
  gradients_ready(DenseStage::bottom);
}

void Model::backward(const mini::Batch& batch, std::span<float> prediction_gradient, float rate, PhaseTimer& timer) {
  load_meter_.look(embeddings_, slot_);
  backward_block(batch, {0, batch.range.size()}, prediction_gradient, true, timer);
  finish_backward(rate, timer);
}

void Model::train(const mini::Batch& batch, const GradientOf& gradient_of, float rate, PhaseTimer& timer) {
  load_meter_.look(embeddings_, slot_);
  const auto ranges = blocks(batch);
  for (const mini::SampleRange& range : ranges) {
    const auto predictions = forward_block(batch, range, timer);
    backward_block(batch, range, gradient_of(range, predictions), &range == &ranges.back(), timer);
  }
  finish_backward(rate, timer);
}

void Model::finish_backward(float rate, PhaseTimer& timer) {
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
