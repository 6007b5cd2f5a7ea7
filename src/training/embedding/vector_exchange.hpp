// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <tutti/communicator.hpp>
#include <tutti/request.hpp>
#include <vector>

#include "training/embedding/batch_bags.hpp"
#include "training/embedding/float_memory.hpp"

namespace tutti::detail {

/// Moves pooled vectors between the ranks of pieces, which have them for all samples, and the ranks of the samples,
/// which need all pieces for their slice; and gradients back. One alltoallv each way, and no copy beside it: both sides
/// are read and written where messages leave and arrive.
///
/// Pieces' side: [batch][columns of this rank's pieces]. Samples' side: one block [slice][columns of r's pieces] for
/// each rank r. Replicas have no columns in the vectors; all pieces have columns in the gradients. On a device an
/// exchange is in the order of the collection's stream, and there is nothing to wait for.
class VectorExchange {
 public:
  VectorExchange(const Communicator& comm, const CollectionFacts& facts);

  void set_batch(std::size_t batch);
  [[nodiscard]] std::size_t batch() const { return batch_; }

  /// Pieces' side, [batch][vector_width]: the lookup fills it before send_vectors().
  [[nodiscard]] float* looked_up() { return pieces_.data(); }
  /// Pieces' side, [batch][gradient_width]: after wait() of the way back.
  [[nodiscard]] const float* arrived_gradients() const { return alone_ ? gradients_.data() : pieces_.data(); }
  /// Samples' side.
  [[nodiscard]] const float* vectors_of(int r) const {
    return alone_ ? pieces_.data() : vectors_.data() + vector_counts_.begins[static_cast<std::size_t>(r)];
  }
  [[nodiscard]] float* gradients_for(int r) {
    return gradients_.data() + gradient_counts_.begins[static_cast<std::size_t>(r)];
  }

  void send_vectors();
  void send_gradients();
  void wait() { request_.wait(); }
  void progress() { (void)request_.test(); }

 private:
  struct Counts {
    std::vector<std::size_t> sizes;
    std::vector<std::size_t> begins;
  };
  void exchange(const FloatMemory& from, const Counts& from_counts, FloatMemory& to, const Counts& to_counts);

  const Communicator* comm_;
  const CollectionFacts* facts_;
  bool alone_;  ///< one rank: both sides are the same memory
  std::size_t batch_ = 0;
  FloatMemory pieces_;
  FloatMemory vectors_;
  FloatMemory gradients_;
  Counts looked_up_counts_;
  Counts vector_counts_;
  Counts arrived_counts_;
  Counts gradient_counts_;
  Request request_;
};

}  // namespace tutti::detail
