// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <tutti/communicator.hpp>
#include <tutti/kernels/embedding_bag.hpp>
#include <tutti/request.hpp>
#include <vector>

#include "placement.hpp"

namespace dlrm {

/// Moves pooled embedding vectors between the owners of tables, which have them for all B samples, and the owners of
/// samples, which need all T of them for their slice; and gradients back. One alltoallv each way, and no copy beside
/// it: both sides are read and written where messages leave and arrive.
///
/// Owner side: [B][tables of this rank][D]. Sample side: one block [slice][tables of r][D] for each rank r, to be seen
/// through vectors() and gradients().
class PooledExchange {
 public:
  PooledExchange(const tutti::Communicator& comm, const Placement& placement, std::size_t dim, std::size_t max_batch);

  /// Owner side: the lookup fills it before start_forward; after finish_backward it holds the gradients.
  [[nodiscard]] float* pooled() { return pooled_.data(); }

  /// Starts the way to the owners of the samples for a batch of `batch`. Collective; nonblocking.
  void start_forward(std::size_t batch);
  void finish_forward() { request_.wait(); }
  /// Sample side, after finish_forward and until the next start_forward: the vectors of each table.
  [[nodiscard]] const std::vector<tutti::kernels::Pooled<const float>>& vectors() const { return vectors_; }

  /// Sample side: where the gradients of each table's vectors go before start_backward.
  [[nodiscard]] const std::vector<tutti::kernels::Pooled<float>>& gradients() const { return gradients_; }
  /// Starts the way back. Collective; nonblocking.
  void start_backward();
  void finish_backward() { request_.wait(); }

  /// Lets messages advance; never blocks.
  void progress() { (void)request_.test(); }

 private:
  void set_batch(std::size_t batch);

  const tutti::Communicator* comm_;
  const Placement* placement_;
  std::size_t dim_;
  std::size_t batch_ = 0;
  std::vector<float> pooled_;
  std::vector<float> vector_blocks_;
  std::vector<float> gradient_blocks_;
  std::vector<tutti::kernels::Pooled<const float>> vectors_;
  std::vector<tutti::kernels::Pooled<float>> gradients_;
  std::vector<std::size_t> owner_counts_;
  std::vector<std::size_t> owner_displs_;
  std::vector<std::size_t> sample_counts_;
  std::vector<std::size_t> sample_displs_;
  tutti::Request request_;
};

}  // namespace dlrm
