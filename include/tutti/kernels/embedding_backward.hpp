// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <tutti/detail/export.hpp>
#include <tutti/kernels/embedding_bag.hpp>
#include <vector>

namespace tutti::kernels {

/// The update of a row by its whole gradient g, which is the sum over all its occurrences in the batch, as in PyTorch
/// and facebookresearch/dlrm. Rows that do not occur in the batch are not updated. State is float32 for every row type.
enum class RowOptimizer : std::uint8_t {
  sgd,               ///< w -= lr * g
  adagrad,           ///< s += g^2; w -= lr * g / (sqrt(s) + eps); s: rows x dim
  row_wise_adagrad,  ///< m += mean(g^2) over the whole row; w -= lr * g / (sqrt(m) + eps); m: rows
  adam,  ///< m = b1 m + (1 - b1) g; v = b2 v + (1 - b2) g^2; w -= lr * (m / (1 - b1^step)) / (sqrt(v / (1 - b2^step)) +
         ///< eps); state: rows x 2 x dim, m before v in a row. Kingma and Ba 2015, Algorithm 1, as fbgemm's ADAM and
         ///< torch.optim.Adam. Counterpart: torch.optim.SparseAdam, which adds eps before the correction of v: see
         ///< RowUpdate::epsilon_hat
};

/// The number of state values for a row of dim values: 0, dim, 1 or 2 * dim. State is zero before the first step.
[[nodiscard]] TUTTI_EXPORT std::size_t row_state_values(RowOptimizer optimizer, std::size_t dim);

/// The rounding of new values in rows that are not float32.
enum class Rounding : std::uint8_t {
  nearest,  ///< ties to even
  /// Rounds up or down with the probability that makes the expected value exact. The random bits are a hash of (seed,
  /// step, table, row, column), numbered in the whole table (ShardPlace): a repeated step gives the same bits for any
  /// sharding, threads and partitions.
  stochastic,
};

/// One step of a row optimizer.
struct RowUpdate {
  RowOptimizer optimizer = RowOptimizer::sgd;
  float learning_rate = 0.01F;
  float epsilon = 1e-10F;
  double beta1 = 0.9;      ///< adam
  double beta2 = 0.999;    ///< adam
  std::uint64_t step = 1;  ///< training step, counted from 1; used by adam and stochastic rounding
  Rounding rounding = Rounding::nearest;
  std::uint64_t seed = 0;  ///< seed of stochastic rounding
  /// adam: takes epsilon for the "epsilon hat" at the end of section 2 of Kingma and Ba, which is added to the root of
  /// v before the bias correction: w -= lr * sqrt(1 - b2^step) / (1 - b1^step) * m / (sqrt(v) + epsilon). With it,
  /// results are those of torch.optim.SparseAdam. The two ways differ where sqrt(v / (1 - b2^step)) is not much larger
  /// than epsilon: in the first steps epsilon hat counts as epsilon / sqrt(1 - b2^step), 32 times as much in step 1.
  bool epsilon_hat = false;
};

/// The rows of one table that occur in a batch, ascending and numbered in this shard, and for each row the sum of g^2
/// over the shard's columns.
struct RowSquares {
  std::vector<std::uint32_t> rows;
  std::vector<double> sums;
};

/// Owns the scratch memory of embedding_bag_backward and keeps it between calls. Serves one call at a time.
class TUTTI_EXPORT EmbeddingWorkspace {
 public:
  EmbeddingWorkspace();
  ~EmbeddingWorkspace();
  EmbeddingWorkspace(EmbeddingWorkspace&&) noexcept;
  EmbeddingWorkspace& operator=(EmbeddingWorkspace&&) noexcept;

  struct Scratch;
  [[nodiscard]] Scratch& scratch() { return *scratch_; }

 private:
  std::unique_ptr<Scratch> scratch_;
};

/// Propagates gradients through embedding_bag_forward and updates the rows in the same pass. Local, blocking, host
/// memory. gradients[t] holds the gradients of table t's pooled vectors. states[t] is the float32 state of table t,
/// rows x row_state_values; pass an empty span for sgd. The gradients of a row that occurs several times are added in
/// the order of their positions, 256 at a time, and then the sums of these parts in their order: the result does not
/// depend on the partitions, and is that of a device. Rows are read as float32, updated,
/// and rounded by update.rounding; a row of type uint8 gets a new scale, from its smallest to its largest value. With
/// max pooling, the first of equal maxima gets the gradient. Indices out of range are clamped or ignored as in the
/// forward pass, but not counted; with the policy fatal they throw before any table is touched. Limits: 2^32 - 1 rows
/// per table, 2^32 - 1 indices and 2^32 - 1 bags per call. squares is for row-wise Adagrad on tables with sharded
/// columns: one entry per table, with the rows of embedding_row_squares and their sums over all columns; the entries of
/// other tables are not read. Errors as embedding_bag_forward. Counterpart: fbgemm's SplitTableBatchedEmbeddingBags
/// with EXACT_SGD, EXACT_ADAGRAD, EXACT_ROWWISE_ADAGRAD and ADAM.
TUTTI_EXPORT void embedding_bag_backward(std::span<const EmbeddingTable> tables, std::span<const TableLookups> lookups,
                                         IndexType index_type, std::size_t bags,
                                         std::span<const Pooled<const float>> gradients, std::span<float* const> states,
                                         const RowUpdate& update, const EmbeddingOptions& options,
                                         EmbeddingWorkspace& workspace, std::span<const RowSquares> squares = {});

/// Computes the first half of a row-wise Adagrad step on sharded columns: fills squares[t] for every table and changes
/// no table. The vectors in squares keep their memory. All shards of a table that see the same lookups find the same
/// rows in the same order, so the caller can add their sums element by element (an allreduce of float64) and pass them
/// to embedding_bag_backward. Local, blocking, host memory. Errors as embedding_bag_backward.
TUTTI_EXPORT void embedding_row_squares(std::span<const EmbeddingTable> tables, std::span<const TableLookups> lookups,
                                        IndexType index_type, std::size_t bags,
                                        std::span<const Pooled<const float>> gradients, const EmbeddingOptions& options,
                                        EmbeddingWorkspace& workspace, std::span<RowSquares> squares);

}  // namespace tutti::kernels
