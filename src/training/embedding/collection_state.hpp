// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <tutti/embedding_collection.hpp>
#include <vector>

#include "training/embedding/cached_lookups.hpp"
#include "training/embedding/device_lookups.hpp"
#include "training/embedding/device_squares.hpp"
#include "training/embedding/pending_input.hpp"
#include "training/embedding/sample_side.hpp"
#include "training/embedding/saved_rows.hpp"
#include "training/embedding/shard_tables.hpp"
#include "training/embedding/vector_exchange.hpp"

namespace tutti {

namespace detail {

/// How far the batch of a slot is.
enum class BatchStage : std::uint8_t { none, input, looked_up, vectors_sent, forward_done, gradients_sent, arrived };

/// Everything that one batch in flight needs.
struct BatchSlot {
  BatchSlot(const Communicator& comm, const CollectionFacts& facts)
      : input(facts), exchange(comm, facts), samples(facts, exchange) {}
  /// The lookups as the kernels read them: on the device if the rows are there, of slots if rows are cached.
  [[nodiscard]] const kernels::TableLookups& all(std::size_t i) const {
    return on_device ? on_device->all(i) : cached ? cached->all(i) : input.lookups().all(i);
  }
  [[nodiscard]] const kernels::TableLookups& own(std::size_t i) const {
    return on_device ? on_device->own(i) : cached ? cached->own(i) : input.lookups().own(i);
  }
  [[nodiscard]] const float* counts(std::size_t t) const {
    if (on_device) return on_device->counts(t);
    const auto& counts = input.lookups().counts(t);
    return counts.empty() ? nullptr : counts.data();
  }
  BatchStage stage = BatchStage::none;
  PendingInput input;
  VectorExchange exchange;
  SampleSide samples;
  std::unique_ptr<DeviceLookups> on_device;  ///< null if the rows are on the host
  std::unique_ptr<CachedLookups> cached;     ///< null if all rows are in memory
  bool input_finished = false;               ///< by finish_input(); look_up() may come before
};

}  // namespace detail

struct EmbeddingCollection::State {
  State(const Communicator& communicator, std::span<const EmbeddingTableConfig> configs, ShardingPlan plan,
        const EmbeddingCollectionOptions& options);
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void set_up_device();
  void allocate();
  void allocate_on_all_ranks();
  [[noreturn]] void refuse_memory() const;
  void group();
  detail::BatchSlot& slot(std::size_t i, detail::BatchStage expected, const char* call);
  /// Completes the input and brings the lookups to where the kernels read them. If all ranks know of a fault, throws it
  /// and frees the slot.
  void finish_input(detail::BatchSlot& slot);
  [[nodiscard]] detail::BatchSlot& ready_slot(std::size_t i, const char* call);
  void look_up(detail::BatchSlot& slot);
  [[nodiscard]] kernels::Pooled<const float> gradients_of(const detail::BatchSlot& slot, std::size_t i) const;
  void update(detail::BatchSlot& slot, float learning_rate);
  void update_on_device(detail::BatchSlot& slot, const kernels::RowUpdate& step);
  /// Keeps the rows of a batch for the checkpoints that have not read them yet.
  void keep_saved(const detail::BatchSlot& slot);
  /// The rows change otherwise than by an update, or end.
  void end_saved(const char* reason);
  /// Notes the rows of a batch for the next increment.
  void note_changes(const detail::BatchSlot& slot);
  /// Begins an incremental save. Returns false if it must be full, but is not.
  [[nodiscard]] bool begin_increment(detail::checkpoint::Increment& save, const std::string& prefix) const;

  const Communicator* comm;
  detail::CollectionFacts facts;
  std::vector<TableShard> shards;
  detail::ShardTables tables;
  std::vector<detail::PieceGroup> sharded;    ///< looked up for all samples
  std::vector<detail::PieceGroup> replicas;   ///< looked up for this rank's samples
  std::vector<detail::PieceGroup> updated;    ///< updated by this rank alone
  std::vector<detail::PieceGroup> completed;  ///< updated with sums of squares that are added over ranks
  bool adds_squares = false;                  ///< whether any rank has `completed` pieces
  kernels::EmbeddingWorkspace workspace;
  std::unique_ptr<detail::DeviceWork> device;      ///< null if the rows are on the host
  std::unique_ptr<detail::DeviceSquares> squares;  ///< null, unless adds_squares
  std::unique_ptr<detail::CopyStream> copies;      ///< null likewise
  /// Rows on the host that checkpoints have still to read; expired where the part has been written.
  mutable std::vector<std::weak_ptr<detail::SavedRows>> saved;
  /// Null before the first incremental save, and where the rows changed otherwise than by an update.
  mutable std::shared_ptr<detail::RowChanges> changes;
  std::vector<std::unique_ptr<detail::BatchSlot>> slots;
  std::unique_ptr<detail::InputQueue> inputs;
  std::uint64_t steps = 0;
};

}  // namespace tutti
