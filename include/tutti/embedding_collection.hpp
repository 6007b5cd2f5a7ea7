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

/// All but the stream must be equal on all ranks.
struct EmbeddingCollectionOptions {
  kernels::RowOptimizer optimizer = kernels::RowOptimizer::sgd;
  float epsilon = 1e-10F;  ///< adam: added after the bias correction, unless epsilon_hat is set
  double beta1 = 0.9;      ///< adam
  double beta2 = 0.999;    ///< adam
  kernels::Rounding rounding = kernels::Rounding::nearest;  ///< rounding of rows that are not float32
  kernels::IndexPolicy policy = kernels::IndexPolicy::fatal;
  std::size_t max_batch = 1;             ///< samples in the largest global batch
  std::size_t slots = 1;                 ///< number of batches in flight, each with its own buffers
  bool weighted = false;                 ///< inputs have a weight for each index; needed for InputLayout::local only
  std::uint64_t seed = 0;                ///< seed of initialize() and of stochastic rounding
  MemoryKind memory = MemoryKind::host;  ///< memory of rows, state, vectors and gradients: host or device
  Stream stream{};                       ///< with device memory: orders all work there; must outlive the collection
  bool epsilon_hat = false;              ///< adam: epsilon as in torch.optim.SparseAdam; see kernels::RowUpdate
  /// Lets load() take a checkpoint whose tables have fewer rows; the other rows keep their values and their state. For
  /// tables that grow with the data.
  bool grow = false;
  /// The type in which vectors and their gradients travel: float32, bfloat16 or float16. The rank that sends a value
  /// rounds it once, to nearest; the rank that receives it goes on in float32. So a vector whose rows are divided is
  /// the float32 sum of parts that are rounded once each. A rank's own part is rounded too: results do not depend on
  /// which rank has a shard, and replicas stay equal. Vectors of replicas do not travel (their gradients do); with one
  /// rank nothing travels and nothing is rounded. In float16, values from 65520 become infinite, and values up to 2^-25
  /// zero. Counterpart: torchrec's QCommsConfig with equal forward_precision and backward_precision.
  DatatypeKind exchange_type = DatatypeKind::float32;
  /// For tables larger than memory. Largest memory of a rank's rows and state, in bytes; 0: no limit. A rank with more
  /// of them has them in files of table_folder, and in memory those that were looked up most often of late; each batch
  /// brings the rows that it needs. Results are the same, bit for bit. If the rows of one batch need more memory than
  /// this, it grows to hold them. With tables in host memory only. Counterparts: fbgemm's SSDTableBatchedEmbeddingBags,
  /// HugeCTR's embedding training cache.
  std::size_t table_memory = 0;
  /// The folder of those files, on a disk of the rank's node that is not memory itself (tmpfs). It needs room for rows
  /// and state, which is taken at once. The files have no names, and end with the process.
  std::string table_folder{};
};

/// The bags that a rank passes. A bag is the indices of one sample in one table.
enum class InputLayout : std::uint8_t {
  global,  ///< the bags of all samples of the batch, for the tables that the rank needs(): no input is exchanged
  local,   ///< the bags of the rank's own samples, for all tables: the collection sends them to the ranks with the rows
};

/// The bags of one global batch. Layout, index type and batch must be equal on all ranks.
struct EmbeddingInput {
  std::span<const kernels::TableLookups> tables;  ///< one a table; a table that is not needed may be empty
  kernels::IndexType index_type = kernels::IndexType::int64;
  std::size_t batch = 0;  ///< number of samples on all ranks together, at most max_batch
  InputLayout layout = InputLayout::global;
  std::string_view error{};  ///< reports another fault of the batch on this rank: all ranks then throw this text
};

/// The samples of a global batch that rank r of R computes: [r * B / R, (r + 1) * B / R).
struct SampleSlice {
  std::size_t begin = 0;
  std::size_t end = 0;
  [[nodiscard]] std::size_t size() const { return end - begin; }
};
[[nodiscard]] TUTTI_EXPORT SampleSlice sample_slice(std::size_t batch, int rank, int ranks);

/// Embedding tables that a plan divides over the ranks. Forward looks rows up on the ranks that hold them, and sends
/// the pooled vectors to the ranks with the samples; backward sends the gradients back, and the rows are updated in
/// place. Each way takes one alltoallv, whatever the plan. A step is
///
///     collection.start_forward(slot, input);     // lookup; vectors are on their way
///     ...                                        // the bottom MLP
///     const auto& vectors = collection.finish_forward(slot);
///     ...                                        // loss and backward write collection.gradients(slot)
///     collection.start_backward(slot);
///     ...                                        // the rest of backward
///     collection.finish_backward(slot, learning_rate);
///
/// All calls are collective over the communicator, in the same order on all ranks, unless marked "Local". Blocking
/// calls test and yield. Vectors are summed in the order of a sample's indices (row-wise: of the shards), and each row
/// is updated once, with the sum of its gradients. So results do not depend on the number of ranks, except for the
/// rounding of row-wise sums, and of values that travel in 16 bits. Counterpart: torchrec's
/// ShardedEmbeddingBagCollection with fused optimizers.
///
/// With EmbeddingCollectionOptions::memory = device, the rows, the optimizer's state, the vectors and the gradients are
/// in the memory of the device that was current in the constructor. Bags are still passed in host memory: they are
/// checked, agreed on and exchanged there, and copied to the device while it computes. Calls after finish_input() are
/// in stream order: they return at once if the communicator's calls on device memory do, never throw because of the
/// data, and may be captured into a graph. All plans are supported.
class TUTTI_EXPORT EmbeddingCollection {
 public:
  /// Makes tables of zeros: see initialize() and fill(). `comm` must outlive the collection. Blocking. Errors, on all
  /// ranks alike: invalid_argument (the plan does not fit: see ShardingPlan::validate; an option), out_of_memory,
  /// mismatch; for device memory also not_built (no CUDA, or no device kernels).
  EmbeddingCollection(const Communicator& comm, std::span<const EmbeddingTableConfig> tables, ShardingPlan plan,
                      const EmbeddingCollectionOptions& options);
  ~EmbeddingCollection();
  EmbeddingCollection(EmbeddingCollection&&) noexcept;
  EmbeddingCollection& operator=(EmbeddingCollection&&) noexcept;
  EmbeddingCollection(const EmbeddingCollection&) = delete;
  EmbeddingCollection& operator=(const EmbeddingCollection&) = delete;

  /// Local. Whether this rank must pass the bags of table t in InputLayout::global, because it has a shard of the table
  /// or divides its means.
  [[nodiscard]] bool needs(std::size_t t) const;
  [[nodiscard]] std::size_t tables() const;
  [[nodiscard]] const EmbeddingTableConfig& table(std::size_t t) const;
  [[nodiscard]] const ShardingPlan& plan() const;
  [[nodiscard]] const EmbeddingCollectionOptions& options() const;

  /// Local. Asks the system for those rows of a batch on disk that this rank has, of the bags that it passes, so that
  /// look_up() finds them in the system's memory: for a thread that reads batches ahead. Any thread may call it, also
  /// beside the other calls. Never waits for a disk; changes no result. Nothing happens where all rows are in memory,
  /// and for an input with an error.
  void prefetch_rows(const EmbeddingInput& input) const;

  /// Checks the input, and starts to agree on it and to exchange it, while the caller and other slots go on. The memory
  /// that `input` refers to must stay valid and unchanged until the slot's update, or its next input. Nonblocking;
  /// faults of the data are not thrown here but by send_vectors(). Errors: invalid_argument for a slot that is out of
  /// range, or whose batch is still in use (its vectors or gradients are under way, or wait for their update).
  void start_input(std::size_t slot, const EmbeddingInput& input);
  /// Completes the input's agreement and exchange, and starts to copy the bags if the rows are on a device: from then
  /// on the batch needs only the stream. look_up() and send_vectors() do this if it was not called. Blocking. Errors:
  /// as send_vectors().
  void finish_input(std::size_t slot);
  /// Local. Equal for two inputs of a slot if and only if a graph captured with one, from look_up() to update(), also
  /// computes the other: they have equal batches and numbers of indices, and the memory has not moved. Requires tables
  /// in device memory and a completed finish_input().
  [[nodiscard]] std::uint64_t graph_key(std::size_t slot) const;
  /// Local. Notes that the caller computed the batch by launching a captured graph, from look_up() to update(), on the
  /// stream. Counts as one step of the optimizer. The learning rate, and for adam and stochastic rounding the step
  /// number, are those of the capture. Requires tables in device memory and a completed finish_input().
  void note_graph_step(std::size_t slot);
  /// Completes the input's exchange and reads the rows as they are now. With InputLayout::global this is local: rows
  /// are read while the ranks agree. Blocking. Errors: as send_vectors().
  void look_up(std::size_t slot);
  /// Completes the agreement and starts the vectors' exchange, which is nonblocking. Errors, from look_up() or from
  /// this call, are the same on all ranks and come before any vector is exchanged: index_out_of_range with table,
  /// sample, index and range; invalid_argument with EmbeddingInput::error, or for input that does not fit the
  /// collection; mismatch of batches, layouts or index types. The slot is free then, and nothing else has changed.
  void send_vectors(std::size_t slot);
  /// start_input, look_up and send_vectors.
  void start_forward(std::size_t slot, const EmbeddingInput& input);
  /// Completes the exchange. Returns, for each table, the pooled vectors of this rank's samples in float32: sample s of
  /// the slice is at data + s * stride. Valid until the slot's next input, which may follow without backward. Blocking.
  [[nodiscard]] const std::vector<kernels::Pooled<const float>>& finish_forward(std::size_t slot);

  /// Local. Where the caller writes the gradients of those vectors before start_backward().
  [[nodiscard]] const std::vector<kernels::Pooled<float>>& gradients(std::size_t slot) const;
  /// Starts to send the gradients back. Nonblocking.
  void start_backward(std::size_t slot);
  /// Completes the exchange of gradients. Blocking.
  void receive_gradients(std::size_t slot);
  /// Updates this rank's rows; counts as one step of the optimizer. Batches are applied in the order of these calls.
  /// Collective if the optimizer is row-wise Adagrad and columns are divided; blocking.
  void update(std::size_t slot, float learning_rate);
  /// receive_gradients and update.
  void finish_backward(std::size_t slot, float learning_rate);

  /// Local. Counts what the slot's batch reads and updates on this rank: the bytes, lookups and distinct_rows that
  /// ShardingPlan::prediction has for it; the seconds are 0. Sorts the batch's indices, so it is for some batches of a
  /// run. Call it after look_up() or finish_input() and before update(). Errors: invalid_argument.
  [[nodiscard]] RankLoad batch_load(std::size_t slot) const;

  /// Local. Drives exchanges that are under way; never blocks.
  void progress();

  /// Local. This rank's shards, in the order of the plan.
  [[nodiscard]] std::span<const TableShard> shards() const;
  /// Local. Bytes of rows and state on this rank, in memory or on disk: those that the plan predicted. In memory they
  /// are one block, so small tables take no more.
  [[nodiscard]] std::size_t bytes() const;
  /// Local. Reads those of the rows [row_begin, row_end) that shards()[i] has, in float32; out.size() must be rows *
  /// columns. Rows are numbered as in the whole table.
  void read_rows(std::size_t i, std::int64_t row_begin, std::int64_t row_end, std::span<float> out) const;
  /// Local. Sets the rows of table t that this rank has. Calls make(row_begin, row_end, values) for blocks of them, in
  /// ascending order, which fills values[row - row_begin][dim] with whole rows; the shards take their columns of them.
  /// In cyclic order each block is one row.
  using MakeRows = std::function<void(std::int64_t row_begin, std::int64_t row_end, std::span<float> values)>;
  void fill(std::size_t t, const MakeRows& make);
  /// Local. Sets all rows to uniform numbers in +-1/sqrt(rows), which depend on seed, table, row and column: the same
  /// for every plan.
  void initialize();

  /// Local. Adds this rank's rows and optimizer state as sections of a checkpoint: "<prefix> <table> <type> rows a:b
  /// columns c:d", in cyclic order "rows a:b:step"; of an incremental save (SaveKind::incremental) those that changed,
  /// with " of increment n" at the end. The part saves what is here now, although training may go on until
  /// it is written (CheckpointSave): an update first copies the rows that it changes, where the part has still to read
  /// them, so memory grows at most by rows, state and 4 bytes a row. Rows on a device are copied to host memory here.
  /// fill(), load() and the collection's end before that fail the part (invalid_argument). Values that are not finite
  /// fail it, too. Replicas are written once.
  void add_to(CheckpointPart& part, const std::string& prefix = "embedding") const;
  /// Local. Reads rows and state from a checkpoint of the same tables, with any plan, type and number of ranks. Errors:
  /// io, naming the table, for missing rows (see EmbeddingCollectionOptions::grow), other widths, and the state of
  /// another optimizer.
  void load(const CheckpointReader& reader, const std::string& prefix = "embedding");
  /// Local. The number of optimizer steps so far.
  [[nodiscard]] std::uint64_t steps() const;

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace tutti
