// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/embedding_collection.hpp>
#include <tutti/error.hpp>

#include "training/embedding/collection_state.hpp"

namespace tutti {

using detail::BatchSlot;
using detail::BatchStage;

SampleSlice sample_slice(std::size_t batch, int rank, int ranks) {
  const auto r = static_cast<std::size_t>(rank);
  const auto n = static_cast<std::size_t>(ranks);
  return {r * batch / n, (r + 1) * batch / n};
}

EmbeddingCollection::EmbeddingCollection(const Communicator& comm, std::span<const EmbeddingTableConfig> tables,
                                         ShardingPlan plan, const EmbeddingCollectionOptions& options)
    : state_(std::make_unique<State>(comm, tables, std::move(plan), options)) {}
EmbeddingCollection::~EmbeddingCollection() = default;
EmbeddingCollection::EmbeddingCollection(EmbeddingCollection&&) noexcept = default;
EmbeddingCollection& EmbeddingCollection::operator=(EmbeddingCollection&&) noexcept = default;

bool EmbeddingCollection::needs(std::size_t t) const { return state_->facts.needs(t); }
std::size_t EmbeddingCollection::tables() const { return state_->facts.tables.size(); }
const EmbeddingTableConfig& EmbeddingCollection::table(std::size_t t) const { return state_->facts.tables.at(t); }
const ShardingPlan& EmbeddingCollection::plan() const { return state_->facts.plan; }
const EmbeddingCollectionOptions& EmbeddingCollection::options() const { return state_->facts.options; }
std::span<const TableShard> EmbeddingCollection::shards() const { return state_->shards; }
std::size_t EmbeddingCollection::bytes() const { return state_->tables.bytes(); }
std::uint64_t EmbeddingCollection::steps() const { return state_->steps; }

void EmbeddingCollection::start_input(std::size_t slot, const EmbeddingInput& input) {
  const bool done = slot < state_->slots.size() && state_->slots[slot]->stage == BatchStage::forward_done;
  BatchSlot& s = state_->slot(slot, done ? BatchStage::forward_done : BatchStage::none, "start_input");
  s.input_finished = false;
  s.input.begin(input);
  s.stage = BatchStage::input;
  state_->inputs->push(s.input);
}

void EmbeddingCollection::finish_input(std::size_t slot) {
  state_->finish_input(state_->slot(slot, BatchStage::input, "finish_input"));
}

std::uint64_t EmbeddingCollection::graph_key(std::size_t slot) const {
  const std::uint64_t key = state_->ready_slot(slot, "graph_key").on_device->key();
  return state_->squares ? detail::Hash().add(key).add(state_->squares->generation()).value() : key;
}

void EmbeddingCollection::note_graph_step(std::size_t slot) {
  BatchSlot& s = state_->ready_slot(slot, "note_graph_step");
  s.on_device->note_use();
  state_->note_changes(s);
  ++state_->steps;
  s.stage = BatchStage::none;
}

void EmbeddingCollection::look_up(std::size_t slot) {
  BatchSlot& s = state_->slot(slot, BatchStage::input, "look_up");
  if (s.on_device || !s.input.readable()) state_->finish_input(s);
  state_->look_up(s);
  s.stage = BatchStage::looked_up;
}

void EmbeddingCollection::send_vectors(std::size_t slot) {
  BatchSlot& s = state_->slot(slot, BatchStage::looked_up, "send_vectors");
  state_->finish_input(s);
  s.exchange.send_vectors();
  s.stage = BatchStage::vectors_sent;
}

void EmbeddingCollection::start_forward(std::size_t slot, const EmbeddingInput& input) {
  start_input(slot, input);
  look_up(slot);
  send_vectors(slot);
}

const std::vector<kernels::Pooled<const float>>& EmbeddingCollection::finish_forward(std::size_t slot) {
  BatchSlot& s = state_->slot(slot, BatchStage::vectors_sent, "finish_forward");
  s.exchange.wait();
  s.samples.assemble([&s](std::size_t t) { return s.counts(t); });
  s.stage = BatchStage::forward_done;
  return s.samples.vectors();
}

const std::vector<kernels::Pooled<float>>& EmbeddingCollection::gradients(std::size_t slot) const {
  return state_->slot(slot, BatchStage::forward_done, "gradients").samples.gradients();
}

void EmbeddingCollection::start_backward(std::size_t slot) {
  BatchSlot& s = state_->slot(slot, BatchStage::forward_done, "start_backward");
  s.samples.distribute([&s](std::size_t t) { return s.counts(t); });
  s.exchange.send_gradients();
  s.stage = BatchStage::gradients_sent;
}

void EmbeddingCollection::receive_gradients(std::size_t slot) {
  BatchSlot& s = state_->slot(slot, BatchStage::gradients_sent, "receive_gradients");
  s.exchange.wait();
  s.stage = BatchStage::arrived;
}

void EmbeddingCollection::update(std::size_t slot, float learning_rate) {
  BatchSlot& s = state_->slot(slot, BatchStage::arrived, "update");
  state_->update(s, learning_rate);
  s.stage = BatchStage::none;
}

void EmbeddingCollection::finish_backward(std::size_t slot, float learning_rate) {
  receive_gradients(slot);
  update(slot, learning_rate);
}

void EmbeddingCollection::progress() {
  state_->inputs->progress();
  for (auto& slot : state_->slots) slot->exchange.progress();
}

}  // namespace tutti
