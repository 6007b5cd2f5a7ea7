// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <tutti/communicator.hpp>
#include <tutti/request.hpp>
#include <vector>

#include "placement.hpp"

namespace dlrm {

/// Moves pooled embedding vectors between the owners of tables, which have them for all B samples, and the owners of
/// samples, which need all T of them for their slice; and gradients back. One alltoallv each way.
///
/// Owner side: [B][tables of this rank][D]. Sample side: features [b][1 + T][D]; feature 0 is the bottom MLP's and is
/// neither read nor written here. A gradient may be in flight together with nothing else: forward and backward of one
/// batch follow each other.
class PooledExchange {
 public:
  PooledExchange(const tutti::Communicator& comm, const Placement& placement, std::size_t dim, std::size_t max_batch);

  /// Owner side buffer that the lookup fills and start_forward sends, and into which gradients arrive.
  [[nodiscard]] float* pooled() { return pooled_.data(); }

  /// Starts the way to the sample owners for a batch of `batch`. Collective; nonblocking.
  void start_forward(std::size_t batch);
  /// Waits and spreads what came over `features` ([slice][1 + T][D]).
  void finish_forward(float* features);

  /// Collects the gradients of all features but the first and starts the way back. Collective; nonblocking.
  void start_backward(const float* feature_gradients);
  /// Waits; then pooled() holds the gradients of the whole batch for this rank's tables.
  void finish_backward();

  /// Lets messages advance; never blocks.
  void progress() { (void)request_.test(); }

 private:
  void set_batch(std::size_t batch);
  template <typename Copy>
  void for_each_vector(Copy&& copy) const;

  const tutti::Communicator* comm_;
  const Placement* placement_;
  std::size_t dim_;
  std::size_t batch_ = 0;
  std::vector<float> pooled_;
  std::vector<float> blocks_;  ///< sample side, one block [slice][tables of r][D] for each rank r
  std::vector<std::size_t> owner_counts_;
  std::vector<std::size_t> owner_displs_;
  std::vector<std::size_t> sample_counts_;
  std::vector<std::size_t> sample_displs_;
  tutti::Request request_;
};

}  // namespace dlrm
