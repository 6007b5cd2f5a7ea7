// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tutti/checkpoint.hpp>
#include <tutti/communicator.hpp>
#include <tutti/detail/export.hpp>
#include <tutti/kernels/embedding_backward.hpp>
#include <tutti/kernels/embedding_bag.hpp>
#include <tutti/options.hpp>
#include <tutti/sharding_plan.hpp>
#include <vector>

namespace tutti {

/// Equal on all ranks, but for the stream.
struct EmbeddingCollectionOptions {
  kernels::RowOptimizer optimizer = kernels::RowOptimizer::sgd;
  float epsilon = 1e-10F;
  double beta1 = 0.9;                                       ///< adam
  double beta2 = 0.999;                                     ///< adam
  kernels::Rounding rounding = kernels::Rounding::nearest;  ///< of rows that are not float32
  kernels::IndexPolicy policy = kernels::IndexPolicy::fatal;
  std::size_t max_batch = 1;             ///< samples of the largest global batch
  std::size_t slots = 1;                 ///< batches in flight: each has buffers of its own
  bool weighted = false;                 ///< inputs have a factor an index; needed for InputLayout::local only
  std::uint64_t seed = 0;                ///< of initialize() and of stochastic rounding
  MemoryKind memory = MemoryKind::host;  ///< of rows, state, vectors and gradients: host or device
  Stream stream{};                       ///< device: what is done there is in its order; it outlives the collection
};

/// Which bags a rank passes.
enum class InputLayout : std::uint8_t {
  global,  ///< those of all samples of the batch, for the tables that it needs(): no input is exchanged
  local,   ///< those of its own samples, for all tables: lengths and indices go to where the rows are
};

/// The bags of one global batch. Layout, index type and batch are equal on all ranks.
struct EmbeddingInput {
  std::span<const kernels::TableLookups> tables;  ///< one a table; those that are not needed may be empty
  kernels::IndexType index_type = kernels::IndexType::int64;
  std::size_t batch = 0;  ///< samples of all ranks, at most max_batch
  InputLayout layout = InputLayout::global;
  std::string_view error{};  ///< what is wrong with the batch on this rank beside its indices; all ranks then throw
};

/// Samples of a global batch that rank r of R computes with: [r * B / R, (r + 1) * B / R).
struct SampleSlice {
  std::size_t begin = 0;
  std::size_t end = 0;
  [[nodiscard]] std::size_t size() const { return end - begin; }
};
[[nodiscard]] TUTTI_EXPORT SampleSlice sample_slice(std::size_t batch, int rank, int ranks);

/// Embedding tables divided over the ranks by a plan. Forward looks rows up where they are and sends the pooled vectors
/// to the ranks of the samples; backward sends the gradients back and updates the rows there: one alltoallv each way,
/// whatever the plan. A step is
///
///     collection.start_forward(slot, input);     // lookup; vectors are on their way
///     ...                                        // the bottom MLP
///     const auto& vectors = collection.finish_forward(slot);
///     ...                                        // loss and backward write collection.gradients(slot)
///     collection.start_backward(slot);
///     ...                                        // the rest of backward
///     collection.finish_backward(slot, learning_rate);
///
/// All calls are collective over the communicator and made in the same order on all ranks, but where "local" is said.
/// Blocking calls test and yield. Sums are added in the order of the samples' indices (row-wise: of the
/// shards), and each row is updated once with the sum of its gradients, so results do not depend on the number of ranks
/// but for the rounding of row-wise sums. Counterpart: torchrec's ShardedEmbeddingBagCollection with fused optimizers.
///
/// With EmbeddingCollectionOptions::memory = device the rows, the optimizer's state, finish_forward()'s vectors and
/// gradients() are in the memory of the device that was current in the constructor. Bags are given in host memory as
/// ever: they are checked, agreed on and exchanged there, and copied beside the computation. What follows
/// finish_input() is in the order of the stream: it returns at once where the communicator's calls on device memory do,
/// never throws for data, and may be captured into a graph. All plans; no max pooling, no row-wise Adagrad on divided
/// columns.
class TUTTI_EXPORT EmbeddingCollection {
 public:
  /// Rows are zero: see initialize() and fill(). `comm` outlives the collection. Blocking. Errors, on all ranks alike:
  /// invalid_argument (a plan that does not fit: ShardingPlan::validate), out_of_memory, mismatch; for device memory
  /// also not_built (no CUDA, or no kernels for it) and not_supported (row-wise Adagrad on divided columns).
  EmbeddingCollection(const Communicator& comm, std::span<const EmbeddingTableConfig> tables, ShardingPlan plan,
                      const EmbeddingCollectionOptions& options);
  ~EmbeddingCollection();
  EmbeddingCollection(EmbeddingCollection&&) noexcept;
  EmbeddingCollection& operator=(EmbeddingCollection&&) noexcept;
  EmbeddingCollection(const EmbeddingCollection&) = delete;
  EmbeddingCollection& operator=(const EmbeddingCollection&) = delete;

  /// Local. Whether this rank passes the bags of table t in InputLayout::global: it has a shard of it, or divides its
  /// means.
  [[nodiscard]] bool needs(std::size_t t) const;
  [[nodiscard]] std::size_t tables() const;
  [[nodiscard]] const EmbeddingTableConfig& table(std::size_t t) const;
  [[nodiscard]] const ShardingPlan& plan() const;
  [[nodiscard]] const EmbeddingCollectionOptions& options() const;

  /// Checks the input, and begins to agree on it and to exchange it, while the caller and other slots do other things.
  /// The memory that `input` names stays valid and unchanged until the slot's update, or its next input. Nonblocking;
  /// throws nothing that depends on data: what is wrong is told by send_vectors(). Errors: invalid_argument for a slot
  /// that is out of range or whose batch is still needed (its vectors or gradients are under way, or await their
  /// update).
  void start_input(std::size_t slot, const EmbeddingInput& input);
  /// Ends the input's agreement and exchange, and begins to copy it where the rows are on a device: after it a batch
  /// needs the stream only. look_up() and send_vectors() do this where it was not done. Blocking. Errors: as
  /// send_vectors().
  void finish_input(std::size_t slot);
  /// Local; after finish_input(), on a device. The same for two inputs of a slot exactly when a graph that was captured
  /// with one, from look_up() to update(), computes the other: equal batches and numbers of indices, and memory that
  /// stayed where it was.
  [[nodiscard]] std::uint64_t graph_key(std::size_t slot) const;
  /// Local; after finish_input(), on a device. The batch was computed by launching a captured graph on the stream, from
  /// look_up() to update(): counts as one step of the optimizer, whose learning rate, and for adam and stochastic
  /// rounding whose number of the step, are those of the capture.
  void note_graph_step(std::size_t slot);
  /// Ends the input's exchange and reads the rows as they are now. With InputLayout::global that is local: rows are
  /// read while the ranks agree. Blocking. Errors: as send_vectors().
  void look_up(std::size_t slot);
  /// Ends the agreement and starts the vectors' exchange, which is nonblocking. Errors, of look_up() or of this call,
  /// the same on all ranks, before any vector is exchanged; the slot is then free, and all else unchanged:
  /// index_out_of_range with table, sample, index and range; invalid_argument with EmbeddingInput::error, or for input
  /// that is not as the collection; mismatch of batches, layouts or index types.
  void send_vectors(std::size_t slot);
  /// start_input, look_up and send_vectors.
  void start_forward(std::size_t slot, const EmbeddingInput& input);
  /// Ends the exchange: one view a table of the pooled vectors of this rank's samples, in float32, sample s of the
  /// slice at data + s * stride. Valid until the slot's next input, which may follow without backward. Blocking.
  [[nodiscard]] const std::vector<kernels::Pooled<const float>>& finish_forward(std::size_t slot);

  /// Local. Where the gradients of those vectors go before start_backward.
  [[nodiscard]] const std::vector<kernels::Pooled<float>>& gradients(std::size_t slot) const;
  /// Starts the way back. Nonblocking.
  void start_backward(std::size_t slot);
  /// Ends the exchange. Blocking.
  void receive_gradients(std::size_t slot);
  /// Updates this rank's rows; counts as one step of the optimizer. Batches are updated in the order of these calls.
  /// Collective where the optimizer is row-wise Adagrad and columns are divided; blocking.
  void update(std::size_t slot, float learning_rate);
  /// receive_gradients and update.
  void finish_backward(std::size_t slot, float learning_rate);

  /// Local. Drives what is under way; never blocks.
  void progress();

  /// Local. This rank's shards, in the order of the plan.
  [[nodiscard]] std::span<const TableShard> shards() const;
  /// Local. Bytes of rows and state on this rank.
  [[nodiscard]] std::size_t bytes() const;
  /// Local. out = rows [row_begin, row_end) of shards()[i] in float32, out.size() == rows * columns. Rows are numbered
  /// as in the table.
  void read_rows(std::size_t i, std::int64_t row_begin, std::int64_t row_end, std::span<float> out) const;
  /// Local. Sets the rows of table t that this rank has: make(row_begin, row_end, values) is called for blocks of them
  /// in ascending order, to fill values[row - row_begin][dim] with whole rows, of which the shards take their columns.
  using MakeRows = std::function<void(std::int64_t row_begin, std::int64_t row_end, std::span<float> values)>;
  void fill(std::size_t t, const MakeRows& make);
  /// Local. Rows uniform in +-1/sqrt(rows), from seed, table, row and column: the same for every plan.
  void initialize();

  /// Local. Names this rank's rows and optimizer state as sections of a checkpoint: "<prefix> <table> <type> rows a:b
  /// columns c:d". They stay valid until the next update, or call of this function. Replicas are written once. Rows on
  /// a device are copied to the host, which needs the memory.
  void add_to(CheckpointPart& part, const std::string& prefix = "embedding") const;
  /// Local. Takes rows and state from a checkpoint of the same tables, whatever their plan, type and number of ranks
  /// were. Errors: io, naming the table, for missing rows, other widths, and state of another optimizer.
  void load(const CheckpointReader& reader, const std::string& prefix = "embedding");
  /// Local. Steps of the optimizer so far.
  [[nodiscard]] std::uint64_t steps() const;

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace tutti
