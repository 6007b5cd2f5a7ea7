// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <tutti/communication_hook.hpp>
#include <tutti/communicator.hpp>
#include <tutti/detail/export.hpp>
#include <tutti/gradient_reducer.hpp>
#include <tutti/kernels/optimizers.hpp>
#include <vector>

namespace tutti {

/// Reduces each bucket by one nonblocking reduce_scatter: after wait(), rank r has the result for the r-th part of each
/// bucket only (parts have ceil(count / size) elements, rounded up to whole cache lines; the last ones are shorter or
/// empty). The other gradients are still this rank's own. Sends half the bytes of an allreduce.
[[nodiscard]] TUTTI_EXPORT std::shared_ptr<CommunicationHook> sharding_hook();

/// An optimizer whose state is divided over the ranks. Each rank updates its part of every bucket, and all ranks gather
/// the parts: so state takes 1/R of the memory, and the bytes moved are those of an allreduce. Given the same
/// gradients, the result has the same bits as dense_update on every rank. That holds with clipping too, except in a
/// step that ends with a new layout of the buckets, if clip_gradients was called after it. Needs a reducer with
/// sharding_hook(), whose parameters are float32 or float64 and have values. Host memory. Counterpart: ZeRO stage 1
/// (Rajbhandari et al. 2020, section 5.1), torch's ZeroRedundancyOptimizer.
class TUTTI_EXPORT ShardedOptimizer {
 public:
  /// Local. `reducer` and `comm` must outlive it; `comm` has the reducer's ranks in the same order. Errors:
  /// invalid_argument for a reducer with another hook.
  ShardedOptimizer(GradientReducer& reducer, const Communicator& comm, const kernels::DenseUpdate& update);
  ~ShardedOptimizer();
  ShardedOptimizer(ShardedOptimizer&&) noexcept;
  ShardedOptimizer& operator=(ShardedOptimizer&&) noexcept;
  ShardedOptimizer(const ShardedOptimizer&) = delete;
  ShardedOptimizer& operator=(const ShardedOptimizer&) = delete;

  /// Clips by the global norm, updates this rank's parts and gathers all values. Call it after wait(), or after join()
  /// returned true. Parameters that no rank used (find_unused) do not change. Returns the norm before clipping; with
  /// max_norm 0, neither computes the norm nor clips, and returns 0. Collective; blocking. Errors, on every rank:
  /// invalid_argument before the first wait(), and for parameters of other types or without values.
  double step(double learning_rate, double max_norm = 0);
  /// Bytes of state on this rank; 0 before the first step.
  [[nodiscard]] std::size_t state_bytes() const;
  /// Returns the whole state by parameter, gathered, with the same bytes on every rank. load() takes it back, on any
  /// number of ranks, for the same parameters and kind of optimizer; call it after the reducer's prepare() and load().
  /// Both are collective and blocking. Errors: invalid_argument, which names the difference.
  [[nodiscard]] std::vector<std::byte> save() const;
  void load(std::span<const std::byte> state);

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace tutti
