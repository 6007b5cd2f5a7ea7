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

/// Reduces each bucket by one nonblocking reduce_scatter: after wait() rank r has the result of the r-th part of each
/// bucket only (parts of ceil(count / size) elements, rounded up to whole cache lines, the last ones shorter or empty).
/// Elsewhere gradients are this rank's own. Bytes on the wire: half of an allreduce's.
[[nodiscard]] TUTTI_EXPORT std::shared_ptr<CommunicationHook> sharding_hook();

/// Optimizer state divided over the ranks: each rank updates its part of every bucket and the parts are gathered, so
/// state takes 1/R of the memory and the bytes moved are those of an allreduce. Given the same gradients, the same bits
/// as dense_update on every rank; that holds with clipping too, unless clip_gradients was called for other buckets than
/// those of the step's reductions (in the step that ends with new ones). For a reducer whose hook is sharding_hook()
/// and whose parameters are float32 or float64 and have values. Host memory. Counterpart: ZeRO stage 1 (Rajbhandari et
/// al. 2020, section 5.1), torch's ZeroRedundancyOptimizer.
class TUTTI_EXPORT ShardedOptimizer {
 public:
  /// Local; `reducer` and `comm`, which has the reducer's ranks in their order, outlive it. Errors: invalid_argument
  /// for a reducer with another hook.
  ShardedOptimizer(GradientReducer& reducer, const Communicator& comm, const kernels::DenseUpdate& update);
  ~ShardedOptimizer();
  ShardedOptimizer(ShardedOptimizer&&) noexcept;
  ShardedOptimizer& operator=(ShardedOptimizer&&) noexcept;
  ShardedOptimizer(const ShardedOptimizer&) = delete;
  ShardedOptimizer& operator=(const ShardedOptimizer&) = delete;

  /// After wait(), or after join() was true: clips by the global norm, updates this rank's parts, gathers all values.
  /// Parameters that no rank used (find_unused) stay as they are. Returns the norm before clipping; 0 if max_norm is 0:
  /// then it is neither computed nor clipped by. Collective; blocking. Errors: invalid_argument, on every rank, before
  /// the first wait(), and for parameters of other types or without values.
  double step(double learning_rate, double max_norm = 0);
  /// Bytes of state on this rank; 0 before the first step.
  [[nodiscard]] std::size_t state_bytes() const;
  /// The whole state by parameter, gathered on every rank, the same bytes on all. load() takes it back, on any number
  /// of ranks, for the same parameters and kind of optimizer; it comes after the reducer's prepare() and load().
  /// Collective; blocking. Errors: invalid_argument, which says what differs.
  [[nodiscard]] std::vector<std::byte> save() const;
  void load(std::span<const std::byte> state);

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace tutti
