// SPDX-License-Identifier: BSD-3-Clause
#include "training/embedding/vector_exchange.hpp"

#include <algorithm>
#include <tutti/collectives/alltoallv.hpp>

namespace tutti::detail {

namespace {

/// Values on both sides of the largest batch.
struct Sizes {
  std::size_t vectors = 0;  ///< the samples' side, as the next
  std::size_t gradients = 0;
  std::size_t looked_up = 0;  ///< the pieces' side, as the next
  std::size_t arrived = 0;

  explicit Sizes(const CollectionFacts& facts) {
    const auto ranks = static_cast<std::size_t>(facts.ranks);
    const std::size_t slice = (facts.options.max_batch + ranks - 1) / ranks;
    for (int r = 0; r < facts.ranks; ++r) {
      vectors += slice * facts.map.vector_width(r);
      gradients += slice * facts.map.gradient_width(r);
    }
    looked_up = facts.options.max_batch * facts.map.vector_width(facts.rank);
    arrived = facts.options.max_batch * facts.map.gradient_width(facts.rank);
  }
};

}  // namespace

VectorExchange::VectorExchange(const Communicator& comm, const CollectionFacts& facts)
    : comm_(&comm), facts_(&facts), alone_(facts.ranks == 1), sent_(facts), arrived_(facts) {
  const Sizes sizes(facts);
  const auto ranks = static_cast<std::size_t>(facts.ranks);
  const MemoryKind memory = facts.options.memory;
  pieces_.resize(alone_ ? sizes.looked_up : std::max(sizes.looked_up, sizes.arrived), memory);
  gradients_.resize(sizes.gradients, memory);
  if (!alone_) {
    vectors_.resize(sizes.vectors, memory);
    sent_.resize(std::max(sizes.looked_up, sizes.gradients));
    arrived_.resize(std::max(sizes.vectors, sizes.arrived));
  }
  for (auto* counts : {&looked_up_counts_, &vector_counts_, &arrived_counts_, &gradient_counts_}) {
    counts->sizes.assign(ranks, 0);
    counts->begins.assign(ranks, 0);
  }
}

void VectorExchange::set_batch(std::size_t batch) {
  if (batch == batch_) return;
  batch_ = batch;
  const std::size_t slice = facts_->slice(batch).size();
  const std::size_t sent = facts_->map.vector_width(facts_->rank);
  const std::size_t received = facts_->map.gradient_width(facts_->rank);
  std::size_t vectors = 0;
  std::size_t gradients = 0;
  for (int rank = 0; rank < facts_->ranks; ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    const SampleSlice theirs = sample_slice(batch, rank, facts_->ranks);
    const auto set = [r](Counts& counts, std::size_t size, std::size_t begin) {
      counts.sizes[r] = size;
      counts.begins[r] = begin;
    };
    set(looked_up_counts_, theirs.size() * sent, theirs.begin * sent);
    set(arrived_counts_, theirs.size() * received, theirs.begin * received);
    set(vector_counts_, slice * facts_->map.vector_width(rank), vectors);
    set(gradient_counts_, slice * facts_->map.gradient_width(rank), gradients);
    vectors += vector_counts_.sizes[r];
    gradients += gradient_counts_.sizes[r];
  }
}

void VectorExchange::exchange(const FloatMemory& from, const Counts& from_counts, FloatMemory& to,
                              const Counts& to_counts) {
  if (alone_) return;
  const auto end_of = [](const Counts& counts) { return counts.begins.back() + counts.sizes.back(); };
  ConstBuffer send(from.data(), end_of(from_counts));
  Buffer receive(to.data(), end_of(to_counts));
  if (rounds()) {
    sent_.take(from.data(), send.count);
    send = ConstBuffer(sent_.data(), send.count, facts_->options.exchange_type);
    receive = Buffer(arrived_.data(), receive.count, facts_->options.exchange_type);
  }
  const Options options{.stream = facts_->options.stream, .memory = facts_->options.memory};
  request_ = ialltoallv(*comm_, send, from_counts.sizes, from_counts.begins, receive, to_counts.sizes, to_counts.begins,
                        options);
  if (rounds()) arriving_ = {to.data(), receive.count};
}

void VectorExchange::wait() {
  if (facts_->on_device())
    request_.wait(facts_->options.stream);
  else
    request_.wait();
  if (arriving_.to != nullptr) arrived_.give(arriving_.to, arriving_.values);
  arriving_ = {};
}

void VectorExchange::send_vectors() { exchange(pieces_, looked_up_counts_, vectors_, vector_counts_); }

void VectorExchange::send_gradients() { exchange(gradients_, gradient_counts_, pieces_, arrived_counts_); }

}  // namespace tutti::detail
