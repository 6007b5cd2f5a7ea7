// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <tutti/communicator.hpp>
#include <tutti/request.hpp>
#include <vector>

#include "training/embedding/batch_lookups.hpp"
#include "training/embedding/memory.hpp"
#include "training/embedding/rounded_values.hpp"

namespace tutti::detail {

/// Sends pooled vectors from the ranks with pieces, which have them for all samples, to the ranks with samples, which
/// need all pieces for their slice; and sends the gradients back. One alltoallv each way, without copies: both sides
/// read and write the memory of the messages. With an exchange_type other than float32 the messages have memory of
/// their own: values are rounded into it before they are sent, and widened when they have arrived.
///
/// The pieces' side is [batch][columns of this rank's pieces]. The samples' side has a block [slice][columns of r's
/// pieces] for each rank r. Replicas have no columns among the vectors; all pieces have columns among the gradients. On
/// a device an exchange follows what the collection's stream has when it begins, on a stream of the communicator,
/// beside later work; wait() orders the collection's stream after it.
///
/// Where NCCL registers memory, the memory of the messages is of tutti::allocate and as long on all ranks as on the one
/// that needs most, hence symmetric. Messages of one length are then one alltoall, which NCCL's copy engines can do.
class VectorExchange {
 public:
  VectorExchange(const Communicator& comm, const CollectionFacts& facts);
  /// Makes the memory of the messages, if it is registered. Collective; blocking.
  void allocate_registered();

  void set_batch(std::size_t batch);
  [[nodiscard]] std::size_t batch() const { return batch_; }

  /// The pieces' side, [batch][vector_width], which the lookup fills before send_vectors().
  [[nodiscard]] float* looked_up() { return pieces_.data(); }
  /// The pieces' side, [batch][gradient_width], after send_gradients() and wait().
  [[nodiscard]] const float* arrived_gradients() const { return alone_ ? gradients_.data() : pieces_.data(); }
  /// The samples' side.
  [[nodiscard]] const float* vectors_of(int r) const {
    return alone_ ? pieces_.data() : vectors_.data() + vector_counts_.begins[static_cast<std::size_t>(r)];
  }
  [[nodiscard]] float* gradients_for(int r) {
    return gradients_.data() + gradient_counts_.begins[static_cast<std::size_t>(r)];
  }

  void send_vectors();
  void send_gradients();
  void wait();
  void progress() { (void)request_.test(); }

 private:
  struct Counts {
    std::vector<std::size_t> sizes;
    std::vector<std::size_t> begins;
  };
  void exchange(const FloatMemory& from, const Counts& from_counts, FloatMemory& to, const Counts& to_counts,
                bool is_even);
  [[nodiscard]] bool rounds() const { return facts_->options.exchange_type != DatatypeKind::float32; }

  const Communicator* comm_;
  const CollectionFacts* facts_;
  bool alone_;  ///< there is one rank, and both sides are the same memory
  std::size_t batch_ = 0;
  FloatMemory pieces_;
  FloatMemory vectors_;
  FloatMemory gradients_;
  Counts looked_up_counts_;
  Counts vector_counts_;
  Counts arrived_counts_;
  Counts gradient_counts_;
  bool vectors_are_even_ = false;  ///< all ranks' messages have one length, and are one alltoall
  bool gradients_are_even_ = false;
  RoundedValues sent_;
  RoundedValues arrived_;
  /// What arrives in `arrived_`, and where it goes.
  struct Arriving {
    float* to = nullptr;
    std::size_t values = 0;
  };
  Arriving arriving_;
  Request request_;
};

}  // namespace tutti::detail
