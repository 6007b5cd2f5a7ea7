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

/// Reduces buckets by reduce_scatter_block: after wait() rank r has the result of the r-th part of each bucket only
/// (parts of ceil(count / size) elements, the last ones shorter or empty).
[[nodiscard]] TUTTI_EXPORT std::shared_ptr<CommunicationHook> sharding_hook();

/// Optimizer state divided over the ranks: each rank updates its part of every bucket and the parts are gathered, so
/// state takes 1/R of the memory and the bytes moved are those of an allreduce. The same bits as the update on every
/// rank. For a reducer whose hook is sharding_hook() and whose parameters have values. Counterpart: ZeRO stage 1
/// (Rajbhandari et al. 2020, section 5.1), torch's ZeroRedundancyOptimizer.
class TUTTI_EXPORT ShardedOptimizer {
 public:
  /// Local; `reducer` and `comm` outlive it.
  ShardedOptimizer(GradientReducer& reducer, const Communicator& comm, const kernels::DenseUpdate& update);
  ~ShardedOptimizer();
  ShardedOptimizer(ShardedOptimizer&&) noexcept;
  ShardedOptimizer& operator=(ShardedOptimizer&&) noexcept;
  ShardedOptimizer(const ShardedOptimizer&) = delete;
  ShardedOptimizer& operator=(const ShardedOptimizer&) = delete;

  /// After wait(): clips by the global norm (max_norm 0: not), updates this rank's parts, gathers all values. The norm.
  /// Collective, blocking.
  double step(double learning_rate, double max_norm = 0);
  /// Bytes of state on this rank.
  [[nodiscard]] std::size_t state_bytes() const;
  /// The whole state by parameter, gathered on every rank; load() takes it back on any number of ranks. Collective.
  [[nodiscard]] std::vector<std::byte> save() const;
  void load(std::span<const std::byte> state);

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace tutti
