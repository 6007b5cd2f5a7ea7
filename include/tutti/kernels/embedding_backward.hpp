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

/// The update of a row from its whole gradient g (all its occurrences in the batch summed first), as in PyTorch and in
/// facebookresearch/dlrm. Only rows that occur in the batch are updated. State is float32 for every type of rows.
enum class RowOptimizer : std::uint8_t {
  sgd,               ///< w -= lr * g
  adagrad,           ///< s += g^2; w -= lr * g / (sqrt(s) + eps); s: rows x dim
  row_wise_adagrad,  ///< m += mean(g^2) over the whole row; w -= lr * g / (sqrt(m) + eps); m: rows
  adam,  ///< m = b1 m + (1 - b1) g; v = b2 v + (1 - b2) g^2; w -= lr * (m / (1 - b1^step)) / (sqrt(v / (1 - b2^step)) +
         ///< eps); rows x 2 x dim: m, then v of a row. Kingma and Ba 2015, Algorithm 1; counterpart
         ///< torch.optim.SparseAdam
};

/// Values of state that a row of dim values needs: 0, dim, 1, 2 * dim. Zero before the first step.
[[nodiscard]] TUTTI_EXPORT std::size_t row_state_values(RowOptimizer optimizer, std::size_t dim);

/// How new values of rows that are not float32 are rounded.
enum class Rounding : std::uint8_t {
  nearest,  ///< ties to even
  /// Up or down with the probability that makes the expected value exact. The random bits are a hash of (seed, step,
  /// table, row, column) with the numbers of the whole table (ShardPlace): a repeated step gives the same bits,
  /// whatever the sharding, the threads and the partitions.
  stochastic,
};

struct RowUpdate {
  RowOptimizer optimizer = RowOptimizer::sgd;
  float learning_rate = 0.01F;
  float epsilon = 1e-10F;
  double beta1 = 0.9;      ///< adam
  double beta2 = 0.999;    ///< adam
  std::uint64_t step = 1;  ///< number of the training step, from 1: bias correction of adam, stochastic rounding
  Rounding rounding = Rounding::nearest;
  std::uint64_t seed = 0;  ///< stochastic rounding
};

/// The rows of one table that occur in a batch, ascending (numbers of this shard), and the sum of g^2 of each over the
/// columns that are here.
struct RowSquares {
  std::vector<std::uint32_t> rows;
  std::vector<double> sums;
};

/// Scratch of embedding_bag_backward; keeps its memory between calls. One call at a time.
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

/// Backward of embedding_bag_forward fused with the update of the rows; local, blocking, host memory. gradients[t] are
/// those of the pooled vectors. Duplicate rows are summed exactly once each, in the order of their positions, so the
/// result does not depend on the partitions. Rows are read as float32, updated, and rounded as update.rounding says;
/// rows of type uint8 get a new scale, from their least to their largest value. Max pooling: the gradient goes to the
/// first of equal maxima. states[t]: float32 state of table t, rows x row_state_values (empty span for sgd). Indices
/// out of range are clamped or ignored as in the forward (uncounted); when fatal they throw before any table is
/// touched. At most 2^32 - 1 rows a table and indices a call. squares: for row-wise Adagrad on tables with sharded
/// columns, one a table, the rows of embedding_row_squares and their sums over all columns; those of other tables are
/// not read. Errors as embedding_bag_forward. Counterpart: fbgemm's SplitTableBatchedEmbeddingBags with EXACT_SGD,
/// EXACT_ADAGRAD, EXACT_ROWWISE_ADAGRAD and ADAM.
TUTTI_EXPORT void embedding_bag_backward(std::span<const EmbeddingTable> tables, std::span<const TableLookups> lookups,
                                         IndexType index_type, std::size_t bags,
                                         std::span<const Pooled<const float>> gradients, std::span<float* const> states,
                                         const RowUpdate& update, const EmbeddingOptions& options,
                                         EmbeddingWorkspace& workspace, std::span<const RowSquares> squares = {});

/// The first half of a row-wise Adagrad step where columns are sharded: fills squares[t] (vectors keep their memory)
/// for every table, changes no table. All shards of a table that see the same lookups find the same rows in the same
/// order, so their sums can be added element by element (an allreduce of float64) and given to embedding_bag_backward.
/// Local, blocking, host memory; errors as embedding_bag_backward.
TUTTI_EXPORT void embedding_row_squares(std::span<const EmbeddingTable> tables, std::span<const TableLookups> lookups,
                                        IndexType index_type, std::size_t bags,
                                        std::span<const Pooled<const float>> gradients, const EmbeddingOptions& options,
                                        EmbeddingWorkspace& workspace, std::span<RowSquares> squares);

}  // namespace tutti::kernels
