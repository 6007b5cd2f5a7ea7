// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <tutti/detail/export.hpp>
#include <tutti/kernels/embedding_bag.hpp>

namespace tutti::kernels {

/// The update of a row from its whole gradient g (all its occurrences in the batch summed first), as in PyTorch and in
/// facebookresearch/dlrm.
enum class RowOptimizer : std::uint8_t {
  sgd,               ///< w -= lr * g
  adagrad,           ///< s += g^2; w -= lr * g / (sqrt(s) + eps); s: rows x dim
  row_wise_adagrad,  ///< m += mean(g^2); w -= lr * g / (sqrt(m) + eps); m: rows
};

struct RowUpdate {
  RowOptimizer optimizer = RowOptimizer::sgd;
  float learning_rate = 0.01F;
  float epsilon = 1e-10F;
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
/// result does not depend on the partitions. Rows of 16 bits are rounded to nearest. Max pooling: the gradient goes to
/// the first of equal maxima. states[t]: float32 state of table t (empty span for sgd). Indices out of range are
/// clamped or ignored as in the forward (uncounted); when fatal they throw before any table is touched. At most 2^32 -
/// 1 rows a table and indices a call. Errors as embedding_bag_forward. Counterpart: fbgemm's
/// SplitTableBatchedEmbeddingBags with EXACT_SGD, EXACT_ADAGRAD and EXACT_ROWWISE_ADAGRAD.
TUTTI_EXPORT void embedding_bag_backward(std::span<const EmbeddingTable> tables, std::span<const TableLookups> lookups,
                                         IndexType index_type, std::size_t bags,
                                         std::span<const Pooled<const float>> gradients, std::span<float* const> states,
                                         const RowUpdate& update, const EmbeddingOptions& options,
                                         EmbeddingWorkspace& workspace);

}  // namespace tutti::kernels
