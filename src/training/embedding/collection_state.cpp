// SPDX-License-Identifier: BSD-3-Clause
#include "training/embedding/collection_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <new>
#include <tutti/collectives/allreduce.hpp>
#include <tutti/error.hpp>

#include "training/embedding/fingerprint.hpp"
#include "training/embedding/row_squares.hpp"

namespace tutti {

namespace detail {

InputQueue::InputQueue(const Communicator& comm) {
  if (comm.size() > 1) comm_ = Communicator::duplicate(comm.mpi_handle(), comm.options());
}

void InputQueue::push(SlotInput& input) {
  backoff_.push_back(&input);
  progress();
}

void InputQueue::progress() {
  while (!backoff_.empty() && backoff_.front()->advance(comm_, false)) backoff_.pop_front();
}

void InputQueue::complete(const SlotInput& input) {
  while (std::find(backoff_.begin(), backoff_.end(), &input) != backoff_.end()) {
    backoff_.front()->advance(comm_, true);
    backoff_.pop_front();
  }
}

namespace {

void check_type(std::size_t t, const EmbeddingTableConfig& table) {
  constexpr std::array allowed{DatatypeKind::float32, DatatypeKind::float16, DatatypeKind::bfloat16,
                               DatatypeKind::uint8};
  if (std::find(allowed.begin(), allowed.end(), table.type) == allowed.end()) {
    throw Error(ErrorCode::invalid_datatype,
                fmt::format("EmbeddingCollection: table {} '{}' is of type {}; rows are float32, float16, bfloat16 or "
                            "uint8",
                            t, table.name, datatype_name(table.type)));
  }
}

/// Row-wise state is that of whole rows: shards that share rows must have the same ones.
void check_row_state(std::size_t t, const CollectionFacts& facts) {
  if (facts.options.optimizer != kernels::RowOptimizer::row_wise_adagrad || facts.map.replicated(t)) return;
  for (const auto& a : facts.map.of_table(t)) {
    for (const auto& b : facts.map.of_table(t)) {
      const TableShard& left = facts.map.piece(a).shard;
      const TableShard& right = facts.map.piece(b).shard;
      const bool meet = left.row_begin < right.row_end && right.row_begin < left.row_end;
      if (meet && (left.row_begin != right.row_begin || left.row_end != right.row_end)) {
        throw Error(ErrorCode::invalid_argument,
                    fmt::format("EmbeddingCollection: the shards of table {} '{}' cut its rows at different places; "
                                "row-wise Adagrad needs the same rows in all shards that share any",
                                t, facts.tables[t].name));
      }
    }
  }
}

void check_device(const CollectionFacts& facts) {
  const auto memory = facts.options.memory;
  if (memory == MemoryKind::host) return;
  if (memory != MemoryKind::device) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("EmbeddingCollection: rows in {} memory; it is host or device", memory_kind_name(memory)));
  }
  static_cast<void>(device::required_runtime("EmbeddingCollection on a device"));
  if (!kernels::device::is_available()) {
    throw Error(ErrorCode::not_built,
                "EmbeddingCollection on a device: this library has no kernels for it; build it with a Kokkos that has "
                "CUDA, or use host memory");
  }
  if (facts.options.stream.kind != StreamKind::cuda) {
    throw Error(ErrorCode::invalid_argument,
                "EmbeddingCollection on a device: name the stream of its work in EmbeddingCollectionOptions::stream");
  }
  const bool row_wise = facts.options.optimizer == kernels::RowOptimizer::row_wise_adagrad;
  for (std::size_t t = 0; t < facts.tables.size(); ++t) {
    if (facts.tables[t].pooling == kernels::Pooling::max) {
      throw Error(ErrorCode::not_supported,
                  fmt::format("EmbeddingCollection on a device: table {} '{}' pools the maximum; sums and means are "
                              "what works there",
                              t, facts.tables[t].name));
    }
    if (row_wise && !facts.map.replicated(t) && facts.map.columns_divided(t)) {
      throw Error(ErrorCode::not_supported,
                  fmt::format("EmbeddingCollection on a device: row-wise Adagrad with the divided columns of table {} "
                              "'{}'; divide its rows, or do not divide it",
                              t, facts.tables[t].name));
    }
  }
}

CollectionFacts make_facts(const Communicator& comm, std::span<const EmbeddingTableConfig> tables, ShardingPlan plan,
                           const EmbeddingCollectionOptions& options) {
  if (plan.ranks != comm.size()) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("EmbeddingCollection: the plan is for {} ranks, the communicator has {}", plan.ranks, comm.size()));
  }
  plan.validate(tables);
  if (options.slots < 1 || options.max_batch < 1)
    throw Error(ErrorCode::invalid_argument, "EmbeddingCollection: slots and max_batch must be at least 1");
  PieceMap map(tables, plan);
  CollectionFacts facts{
      {tables.begin(), tables.end()}, std::move(plan), options, std::move(map), comm.rank(), comm.size()};
  for (std::size_t t = 0; t < tables.size(); ++t) {
    check_type(t, tables[t]);
    check_row_state(t, facts);
  }
  check_device(facts);
  if (facts.on_device()) facts.device = device::runtime()->current_device();
  return facts;
}

std::uint64_t fingerprint(std::span<const EmbeddingTableConfig> tables, const ShardingPlan& plan,
                          const EmbeddingCollectionOptions& options) {
  Fingerprint print;
  add_tables(print, tables);
  for (const auto& shard : plan.shards) {
    print.add(std::uint64_t{shard.table}).add(static_cast<std::uint64_t>(shard.rank));
    print.add(static_cast<std::uint64_t>(shard.row_begin)).add(static_cast<std::uint64_t>(shard.row_end));
    print.add(std::uint64_t{shard.column_begin}).add(std::uint64_t{shard.column_end});
  }
  for (const Sharding sharding : plan.shardings) print.add(static_cast<std::uint64_t>(sharding));
  print.add(static_cast<std::uint64_t>(options.optimizer)).add(static_cast<std::uint64_t>(options.policy));
  print.add(static_cast<double>(options.epsilon)).add(options.beta1);
  print.add(options.beta2).add(static_cast<std::uint64_t>(options.rounding));
  print.add(std::uint64_t{options.max_batch}).add(std::uint64_t{options.slots});
  print.add(static_cast<std::uint64_t>(options.weighted)).add(options.seed);
  print.add(static_cast<std::uint64_t>(options.memory)).add(static_cast<std::uint64_t>(options.stream.kind));
  return print.value();
}

/// Groups of the pieces that `wanted` says yes to, one a pooling. Where the rows of a mean are divided it is a sum
/// here.
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
    : comm((detail::check_alike(communicator, detail::fingerprint(configs, plan, options),
                                "EmbeddingCollection: tables, plans or options"),
            &communicator)),
      facts(detail::make_facts(communicator, configs, std::move(plan), options)) {
  std::int32_t full = 0;
  try {
    allocate();
  } catch (const std::bad_alloc&) {
    full = comm->rank() + 1;
  } catch (const Error&) {
    full = comm->rank() + 1;
  }
  allreduce(*comm, Buffer(&full, 1), max);
  if (full > 0) {
    throw Error(
        ErrorCode::out_of_memory,
        fmt::format("EmbeddingCollection: rank {} has no memory for its shards; use more ranks or a smaller type",
                    full - 1));
  }
  group();
  inputs = std::make_unique<detail::InputQueue>(communicator);
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
    if (copies) slot.on_device = std::make_unique<detail::DeviceBags>(facts, copies->handle());
  }
}

void EmbeddingCollection::State::group() {
  using detail::Piece;
  const bool row_wise = facts.options.optimizer == kernels::RowOptimizer::row_wise_adagrad;
  const auto shares_rows = [&](const Piece& piece) {
    return row_wise && !piece.replica && facts.map.columns_divided(piece.shard.table);
  };
  for (std::size_t t = 0; t < facts.tables.size(); ++t)
    adds_squares |= row_wise && !facts.map.replicated(t) && facts.map.columns_divided(t);
  sharded = detail::make_groups(facts, tables, [](const Piece& piece) { return !piece.replica; });
  replicas = detail::make_groups(facts, tables, [](const Piece& piece) { return piece.replica; });
  updated = detail::make_groups(facts, tables, [&](const Piece& piece) { return !shares_rows(piece); });
  completed = detail::make_groups(facts, tables, shares_rows);
  for (const Piece& piece : facts.pieces()) shards.push_back(piece.shard);
}

detail::BatchSlot& EmbeddingCollection::State::slot(std::size_t i, detail::BatchStage expected, const char* call) {
  if (i >= slots.size()) {
    throw Error(ErrorCode::invalid_argument, fmt::format("EmbeddingCollection::{}: slot {} of {}; ask for more with "
                                                         "EmbeddingCollectionOptions::slots",
                                                         call, i, slots.size()));
  }
  if (slots[i]->stage != expected) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("EmbeddingCollection::{}: slot {} is not ready for it; the order is start_input, look_up, "
                            "send_vectors, finish_forward, start_backward, receive_gradients, update",
                            call, i));
  }
  return *slots[i];
}

void EmbeddingCollection::State::finish_input(detail::BatchSlot& slot) {
  if (slot.ready) return;
  inputs->complete(slot.input);
  if (const auto& fault = slot.input.fault()) {
    slot.stage = detail::BatchStage::none;
    throw Error(fault->code, fault->text);
  }
  if (slot.on_device) slot.on_device->upload(slot.input.bags(), slot.input.batch());
  slot.ready = true;
}

detail::BatchSlot& EmbeddingCollection::State::ready_slot(std::size_t i, const char* call) {
  detail::BatchSlot& found = slot(i, detail::BatchStage::input, call);
  if (!found.on_device || !found.ready) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("EmbeddingCollection::{}: of rows on a device, after finish_input()", call));
  }
  return found;
}

void EmbeddingCollection::State::look_up(detail::BatchSlot& slot) {
  const auto& bags = slot.input.bags();
  const std::size_t batch = slot.input.batch();
  const std::size_t own = facts.slice(batch).size();
  slot.exchange.set_batch(batch);
  slot.samples.connect();
  for (auto& group : sharded) {
    if (batch == 0) break;
    group.look_up(
        bags.type(), batch, [&](std::size_t i) { return slot.all(i); },
        [&](std::size_t i) {
          return kernels::Pooled<float>{slot.exchange.looked_up() + facts.pieces()[i].vector_at,
                                        facts.map.vector_width(facts.rank)};
        },
        device.get());
  }
  for (auto& group : replicas) {
    if (own == 0) break;
    group.look_up(
        bags.type(), own, [&](std::size_t i) { return slot.own(i); },
        [&](std::size_t i) {
          const std::size_t t = facts.pieces()[i].shard.table;
          return kernels::Pooled<float>{slot.samples.replica_vectors(t), facts.tables[t].dim};
        },
        device.get());
  }
}

void EmbeddingCollection::State::update(detail::BatchSlot& slot, float learning_rate) {
  const auto& bags = slot.input.bags();
  const std::size_t batch = slot.input.batch();
  const auto& options = facts.options;
  const kernels::RowUpdate step{options.optimizer, learning_rate, options.epsilon,  options.beta1,
                                options.beta2,     ++steps,       options.rounding, options.seed};
  const auto lookups = [&](std::size_t i) { return slot.all(i); };
  const auto gradient = [&](std::size_t i) {
    return kernels::Pooled<const float>{slot.exchange.arrived_gradients() + facts.pieces()[i].gradient_at,
                                        facts.map.gradient_width(facts.rank)};
  };
  if (batch == 0) return;
  if (device) {
    for (auto& group : updated) {
      std::size_t indices = 0;
      for (const std::size_t i : group.pieces()) indices += slot.on_device->all_indices(i);
      group.update(bags.type(), batch, lookups, indices, gradient, step, *device);
    }
    return slot.on_device->note_use();
  }
  for (auto& group : updated) group.update(bags.type(), batch, lookups, gradient, step, workspace);
  if (!adds_squares) return;
  for (auto& group : completed) group.square(bags.type(), batch, lookups, gradient, workspace);
  detail::add_row_squares(*comm, facts, completed);
  for (auto& group : completed) group.update(bags.type(), batch, lookups, gradient, step, workspace);
}

}  // namespace tutti
