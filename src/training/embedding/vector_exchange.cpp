// SPDX-License-Identifier: BSD-3-Clause
#include "training/embedding/vector_exchange.hpp"

#include <algorithm>
#include <tutti/collectives/alltoall.hpp>
#include <tutti/collectives/alltoallv.hpp>

namespace tutti::detail {

namespace {

/// Values in each memory of a rank for the largest batch.
struct Sizes {
  std::size_t pieces = 0;
  std::size_t vectors = 0;
  std::size_t gradients = 0;
  std::size_t sent = 0;
  std::size_t arrived = 0;

  Sizes(const CollectionFacts& facts, int rank) {
    const auto ranks = static_cast<std::size_t>(facts.ranks);
    const std::size_t slice = (facts.options.max_batch + ranks - 1) / ranks;
    for (int r = 0; r < facts.ranks; ++r) {
      vectors += slice * facts.map.vector_width(r);
      gradients += slice * facts.map.gradient_width(r);
    }
    const std::size_t looked_up = facts.options.max_batch * facts.map.vector_width(rank);
    const std::size_t arriving = facts.options.max_batch * facts.map.gradient_width(rank);
    pieces = facts.ranks == 1 ? looked_up : std::max(looked_up, arriving);
    sent = std::max(looked_up, gradients);
    arrived = std::max(vectors, arriving);
  }
};

Sizes largest_sizes(const CollectionFacts& facts) {
  Sizes largest(facts, 0);
  for (int rank = 1; rank < facts.ranks; ++rank) {
    const Sizes sizes(facts, rank);
    largest.pieces = std::max(largest.pieces, sizes.pieces);
    largest.sent = std::max(largest.sent, sizes.sent);
    largest.arrived = std::max(largest.arrived, sizes.arrived);
  }
  return largest;
}

/// Whether all ranks have the width of the first one.
template <typename Width>
bool has_equal_widths(const CollectionFacts& facts, const Width& width) {
  for (int rank = 1; rank < facts.ranks; ++rank)
    if (width(rank) != width(0)) return false;
  return true;
}

}  // namespace

VectorExchange::VectorExchange(const Communicator& comm, const CollectionFacts& facts)
    : comm_(&comm), facts_(&facts), alone_(facts.ranks == 1), sent_(facts), arrived_(facts) {
  const Sizes sizes(facts, facts.rank);
  const auto ranks = static_cast<std::size_t>(facts.ranks);
  const MemoryKind memory = facts.options.memory;
  if (!facts.registers || rounds()) {
    pieces_.resize(sizes.pieces, memory);
    gradients_.resize(sizes.gradients, memory);
    if (!alone_) vectors_.resize(sizes.vectors, memory);
  }
  if (!facts.registers && !alone_) {
    sent_.resize(sizes.sent);
    arrived_.resize(sizes.arrived);
  }
  for (auto* counts : {&looked_up_counts_, &vector_counts_, &arrived_counts_, &gradient_counts_}) {
    counts->sizes.assign(ranks, 0);
    counts->begins.assign(ranks, 0);
  }
}

void VectorExchange::allocate_registered() {
  if (!facts_->registers) return;
  const Sizes sizes = largest_sizes(*facts_);
  if (rounds()) {
    sent_.resize_registered(*comm_, sizes.sent);
    arrived_.resize_registered(*comm_, sizes.arrived);
    return;
  }
  pieces_.resize_registered(*comm_, sizes.pieces);
  vectors_.resize_registered(*comm_, sizes.vectors);
  gradients_.resize_registered(*comm_, sizes.gradients);
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
  const PieceMap& map = facts_->map;
  const bool slices_are_even = facts_->registers && batch % static_cast<std::size_t>(facts_->ranks) == 0;
  vectors_are_even_ = slices_are_even && has_equal_widths(*facts_, [&](int rank) { return map.vector_width(rank); });
  gradients_are_even_ =
      slices_are_even && has_equal_widths(*facts_, [&](int rank) { return map.gradient_width(rank); });
}

void VectorExchange::exchange(const FloatMemory& from, const Counts& from_counts, FloatMemory& to,
                              const Counts& to_counts, bool is_even) {
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
  request_ = is_even ? ialltoall(*comm_, send, receive, options)
                     : ialltoallv(*comm_, send, from_counts.sizes, from_counts.begins, receive, to_counts.sizes,
                                  to_counts.begins, options);
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

void VectorExchange::send_vectors() {
  exchange(pieces_, looked_up_counts_, vectors_, vector_counts_, vectors_are_even_);
}

void VectorExchange::send_gradients() {
  exchange(gradients_, gradient_counts_, pieces_, arrived_counts_, gradients_are_even_);
}

}  // namespace tutti::detail
