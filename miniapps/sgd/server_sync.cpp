// SPDX-License-Identifier: BSD-3-Clause
#include "server_sync.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "blocking_sync.hpp"
#include "byte_stream.hpp"

namespace sgd {

namespace {

constexpr std::size_t row_values = 256;

void gather(const std::vector<Tensor<float>>& tensors, std::span<float> Tensor<float>::*part, std::vector<float>& all) {
  auto at = all.begin();
  for (const auto& tensor : tensors) {
    at = std::copy((tensor.*part).begin(), (tensor.*part).end(), at);
  }
}

}  // namespace

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

}  // namespace sgd
