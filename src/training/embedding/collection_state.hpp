// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <tutti/embedding_collection.hpp>
#include <vector>

#include "training/embedding/device_bags.hpp"
#include "training/embedding/sample_side.hpp"
#include "training/embedding/shard_tables.hpp"
#include "training/embedding/slot_input.hpp"
#include "training/embedding/vector_exchange.hpp"

namespace tutti {

namespace detail {

/// How far a batch is.
enum class BatchStage : std::uint8_t { none, input, looked_up, vectors_sent, forward_done, gradients_sent, arrived };

/// What one batch in flight needs.
struct BatchSlot {
  BatchSlot(const Communicator& comm, const CollectionFacts& facts)
      : input(facts), exchange(comm, facts), samples(facts, exchange) {}
  /// Where the kernels read the bags.
  [[nodiscard]] const kernels::TableLookups& all(std::size_t i) const {
    return on_device ? on_device->all(i) : input.bags().all(i);
  }
  [[nodiscard]] const kernels::TableLookups& own(std::size_t i) const {
    return on_device ? on_device->own(i) : input.bags().own(i);
  }
  [[nodiscard]] const float* counts(std::size_t t) const {
    if (on_device) return on_device->counts(t);
    const auto& counts = input.bags().counts(t);
    return counts.empty() ? nullptr : counts.data();
  }
  BatchStage stage = BatchStage::none;
  SlotInput input;
  VectorExchange exchange;
  SampleSide samples;
  std::unique_ptr<DeviceBags> on_device;  ///< where the rows are on a device
  bool ready = false;                     ///< the input is finished
};

/// The inputs of all slots, one after the other in the order in which they were given, on a communicator of their own:
/// so they advance at any time without meeting the exchanges of vectors.
class InputQueue {
 public:
  explicit InputQueue(const Communicator& comm);
  void push(SlotInput& input);
  /// Never blocks.
  void progress();
  /// To the end of `input`, and of those before it.
  void complete(const SlotInput& input);

 private:
  Communicator comm_;
  std::deque<SlotInput*> backoff_;
};

}  // namespace detail

struct EmbeddingCollection::State {
  State(const Communicator& communicator, std::span<const EmbeddingTableConfig> configs, ShardingPlan plan,
        const EmbeddingCollectionOptions& options);

  void set_up_device();
  void allocate();
  void group();
  detail::BatchSlot& slot(std::size_t i, detail::BatchStage expected, const char* call);
  /// Throws what is wrong with the input, after all ranks know, and frees the slot; else the bags are where they are
  /// read.
  void finish_input(detail::BatchSlot& slot);
  [[nodiscard]] detail::BatchSlot& ready_slot(std::size_t i, const char* call);
  void look_up(detail::BatchSlot& slot);
  void update(detail::BatchSlot& slot, float learning_rate);

  const Communicator* comm;
  detail::CollectionFacts facts;
  std::vector<TableShard> shards;
  detail::ShardTables tables;
  std::vector<detail::PieceGroup> sharded;    ///< looked up for all samples
  std::vector<detail::PieceGroup> replicas;   ///< looked up for this rank's samples
  std::vector<detail::PieceGroup> updated;    ///< updated as they are
  std::vector<detail::PieceGroup> completed;  ///< updated with sums of squares from other ranks
  bool adds_squares = false;                  ///< on any rank
  kernels::EmbeddingWorkspace workspace;
  std::unique_ptr<detail::DeviceWork> device;              ///< where the rows are on a device
  std::unique_ptr<detail::CopyStream> copies;              ///< as device
  mutable std::unique_ptr<detail::ShardTables> host_copy;  ///< what checkpoints show of rows on a device
  std::vector<std::unique_ptr<detail::BatchSlot>> slots;
  std::unique_ptr<detail::InputQueue> inputs;
  std::uint64_t steps = 0;
};

}  // namespace tutti
