// SPDX-License-Identifier: BSD-3-Clause
#include "training/embedding/collection_state.hpp"

#include <fmt/format.h>

#include <new>
#include <tutti/error.hpp>

#include "training/all_or_none.hpp"
#include "training/embedding/plan_cost.hpp"
#include "training/embedding/row_squares.hpp"

namespace tutti {

namespace detail {

namespace {

/// Groups the pieces that `wanted` accepts, one group for each pooling. A mean over divided rows is a sum here.
template <typename Wanted>
std::vector<PieceGroup> make_groups(const CollectionFacts& facts, const ShardTables& tables, const Wanted& wanted) {
  std::vector<PieceGroup> groups;
  for (const auto pooling : {kernels::Pooling::sum, kernels::Pooling::mean, kernels::Pooling::max}) {
    std::vector<std::size_t> pieces;
    for (std::size_t i = 0; i < facts.pieces().size(); ++i) {
      const Piece& piece = facts.pieces()[i];
      const std::size_t t = piece.shard.table;
      const auto effective = facts.divides_mean(t) ? kernels::Pooling::sum : facts.tables[t].pooling;
      if (effective == pooling && wanted(piece)) pieces.push_back(i);
    }
    if (!pieces.empty()) groups.emplace_back(pooling, std::move(pieces), tables);
  }
  return groups;
}

}  // namespace

}  // namespace detail

EmbeddingCollection::State::State(const Communicator& communicator, std::span<const EmbeddingTableConfig> configs,
                                  ShardingPlan plan, const EmbeddingCollectionOptions& options)
    : comm(&communicator), facts(detail::agree_on_facts(communicator, configs, std::move(plan), options)) {
  if (facts.on_device() && facts.ranks > 1) {
    comm->prepare_device();  // a nonblocking exchange does not do so
    facts.registers = detail::services::registers_device_memory(*comm);
  }
  allocate_on_all_ranks();
  for (auto& slot : slots) slot->exchange.allocate_registered();
  group();
  inputs = std::make_unique<detail::InputQueue>(communicator);
}

EmbeddingCollection::State::~State() { end_saved("was destroyed before its checkpoint was written"); }

void EmbeddingCollection::State::allocate_on_all_ranks() {
  const auto share = [this] {
    try {
      allocate();
    } catch (const std::bad_alloc&) {
      refuse_memory();
    } catch (const Error&) {
      if (facts.options.table_memory > 0) throw;
      refuse_memory();
    }
  };
  training::all_or_none(*comm, share);
}

void EmbeddingCollection::State::refuse_memory() const {
  throw Error(ErrorCode::out_of_memory,
              fmt::format("EmbeddingCollection: no memory for {} bytes of rows and state; set table_memory and "
                          "table_folder, which keep them in files, or use more ranks or a smaller type",
                          detail::bytes_of_rank(facts, facts.rank)));
}

void EmbeddingCollection::State::set_up_device() {
  device = std::make_unique<detail::DeviceWork>();
  device->stream = facts.options.stream;
  copies = std::make_unique<detail::CopyStream>();
}

void EmbeddingCollection::State::allocate() {
  if (facts.on_device()) set_up_device();
  tables = detail::ShardTables(facts, facts.options.memory);
  for (std::size_t i = 0; i < facts.options.slots; ++i) {
    auto& slot = *slots.emplace_back(std::make_unique<detail::BatchSlot>(*comm, facts));
    if (!tables.caches().empty()) slot.cached = std::make_unique<detail::CachedLookups>(facts, tables);
    if (copies) slot.on_device = std::make_unique<detail::DeviceLookups>(facts, copies->handle());
  }
}

void EmbeddingCollection::State::group() {
  using detail::Piece;
  const auto shares_squares = [&](const Piece& piece) { return facts.shares_squares(piece.shard.table); };
  for (std::size_t t = 0; t < facts.tables.size(); ++t) adds_squares |= facts.shares_squares(t);
  sharded = detail::make_groups(facts, tables, [](const Piece& piece) { return !piece.replica; });
  replicas = detail::make_groups(facts, tables, [](const Piece& piece) { return piece.replica; });
  updated = detail::make_groups(facts, tables, [&](const Piece& piece) { return !shares_squares(piece); });
  completed = detail::make_groups(facts, tables, shares_squares);
  for (const Piece& piece : facts.pieces()) shards.push_back(piece.shard);
  if (facts.on_device() && adds_squares) squares = std::make_unique<detail::DeviceSquares>(*comm, facts);
}

detail::BatchSlot& EmbeddingCollection::State::slot(std::size_t i, detail::BatchStage expected, const char* call) {
  if (i >= slots.size()) {
    throw Error(ErrorCode::invalid_argument, fmt::format("EmbeddingCollection::{}: slot {}, but there are {}; raise "
                                                         "EmbeddingCollectionOptions::slots",
                                                         call, i, slots.size()));
  }
  if (slots[i]->stage != expected) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("EmbeddingCollection::{}: slot {} is at another step; the order is start_input, look_up, "
                            "send_vectors, finish_forward, start_backward, receive_gradients, update",
                            call, i));
  }
  return *slots[i];
}

void EmbeddingCollection::State::finish_input(detail::BatchSlot& slot) {
  if (slot.input_finished) return;
  inputs->complete(slot.input);
  if (const auto& fault = slot.input.fault()) {
    slot.stage = detail::BatchStage::none;
    throw Error(fault->code, fault->text);
  }
  if (slot.on_device) slot.on_device->upload(slot.input.lookups(), slot.input.batch());
  if (squares) squares->prepare(*slot.on_device, slot.input.batch());
  slot.input_finished = true;
}

detail::BatchSlot& EmbeddingCollection::State::ready_slot(std::size_t i, const char* call) {
  detail::BatchSlot& found = slot(i, detail::BatchStage::input, call);
  if (!found.on_device || !found.input_finished) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("EmbeddingCollection::{} requires tables in device memory and a completed finish_input()", call));
  }
  return found;
}

void EmbeddingCollection::State::look_up(detail::BatchSlot& slot) {
  const auto& batch_lookups = slot.input.lookups();
  const std::size_t batch = slot.input.batch();
  const std::size_t own = facts.slice(batch).size();
  slot.exchange.set_batch(batch);
  slot.samples.connect();
  if (slot.cached) slot.cached->bring_for_forward(batch_lookups, batch);
  for (auto& group : sharded) {
    if (batch == 0) break;
    group.look_up(
        batch_lookups.type(), batch, [&](std::size_t i) { return slot.all(i); },
        [&](std::size_t i) {
          return kernels::Pooled<float>{slot.exchange.looked_up() + facts.pieces()[i].vector_at,
                                        facts.map.vector_width(facts.rank)};
        },
        device.get());
  }
  for (auto& group : replicas) {
    if (own == 0) break;
    group.look_up(
        batch_lookups.type(), own, [&](std::size_t i) { return slot.own(i); },
        [&](std::size_t i) {
          const std::size_t t = facts.pieces()[i].shard.table;
          return kernels::Pooled<float>{slot.samples.replica_vectors(t), facts.tables[t].dim};
        },
        device.get());
  }
}

kernels::Pooled<const float> EmbeddingCollection::State::gradients_of(const detail::BatchSlot& slot,
                                                                      std::size_t i) const {
  return {slot.exchange.arrived_gradients() + facts.pieces()[i].gradient_at, facts.map.gradient_width(facts.rank)};
}

void EmbeddingCollection::State::update(detail::BatchSlot& slot, float learning_rate) {
  const auto& batch_lookups = slot.input.lookups();
  const std::size_t batch = slot.input.batch();
  const auto& options = facts.options;
  const kernels::RowUpdate step{options.optimizer, learning_rate,    options.epsilon, options.beta1,      options.beta2,
                                ++steps,           options.rounding, options.seed,    options.epsilon_hat};
  const auto lookups = [&](std::size_t i) { return slot.all(i); };
  const auto gradient = [&](std::size_t i) { return gradients_of(slot, i); };
  if (batch == 0) return;
  note_changes(slot);
  if (device) return update_on_device(slot, step);
  if (slot.cached) slot.cached->bring_for_update(batch_lookups, batch);
  keep_saved(slot);
  for (auto& group : updated) group.update(batch_lookups.type(), batch, lookups, gradient, step, workspace);
  if (!adds_squares) return;
  for (auto& group : completed) group.square(batch_lookups.type(), batch, lookups, gradient, workspace);
  detail::add_row_squares(*comm, facts, tables, completed);
  for (auto& group : completed) group.update(batch_lookups.type(), batch, lookups, gradient, step, workspace);
}

void EmbeddingCollection::State::keep_saved(const detail::BatchSlot& slot) {
  std::erase_if(saved, [](const auto& rows) { return rows.expired(); });
  for (const auto& weak : saved) {
    const auto rows = weak.lock();
    for (std::size_t i = 0; rows && i < facts.pieces().size(); ++i)
      rows->keep(i, slot.input.lookups().all(i), slot.input.lookups().type(), slot.input.batch());
  }
}

void EmbeddingCollection::State::end_saved(const char* reason) {
  for (const auto& weak : saved) {
    if (const auto rows = weak.lock()) rows->end(reason);
  }
  saved.clear();
  changes.reset();
}

void EmbeddingCollection::State::note_changes(const detail::BatchSlot& slot) {
  const auto& lookups = slot.input.lookups();
  for (std::size_t i = 0; changes && i < facts.pieces().size(); ++i)
    changes->note(i, lookups.all(i), lookups.type(), slot.input.batch());
}

bool EmbeddingCollection::State::begin_increment(detail::checkpoint::Increment& save, const std::string& prefix) const {
  if (!changes) {
    std::vector<std::size_t> rows;
    for (const auto& piece : facts.pieces()) rows.push_back(static_cast<std::size_t>(piece.shard.rows()));
    changes = std::make_shared<detail::RowChanges>(std::move(rows));
  }
  return changes->begin(save, prefix);
}

void EmbeddingCollection::State::update_on_device(detail::BatchSlot& slot, const kernels::RowUpdate& step) {
  const kernels::IndexType type = slot.input.lookups().type();
  const std::size_t batch = slot.input.batch();
  const auto lookups = [&](std::size_t i) { return slot.all(i); };
  const auto gradient = [&](std::size_t i) { return gradients_of(slot, i); };
  const auto indices = [&](const detail::PieceGroup& group) {
    std::size_t all = 0;
    for (const std::size_t i : group.pieces()) all += slot.on_device->all_indices(i);
    return all;
  };
  const auto none = [](std::size_t) -> double* { return nullptr; };
  for (auto& group : updated) group.update(type, batch, lookups, indices(group), gradient, step, none, *device);
  if (squares) {
    const auto sums = [&](std::size_t i) { return squares->of(i); };
    squares->arrange(*slot.on_device);
    for (auto& group : completed) group.square(type, batch, lookups, indices(group), gradient, sums, *device);
    squares->exchange(*slot.on_device);
    for (auto& group : completed) group.update(type, batch, lookups, indices(group), gradient, step, sums, *device);
  }
  slot.on_device->note_use();
}

}  // namespace tutti
