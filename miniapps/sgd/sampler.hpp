// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/data_source.hpp"

namespace sgd {

/// A permutation of 0 ... n - 1 by a key, without memory: a Feistel network over the next even number of bits, walked
/// until it is back below n (four times on average at most). Sources: Luby and Rackoff 1988; Black and Rogaway, Ciphers
/// with arbitrary finite domains, 2002 (cycle walking).
class Permutation {
 public:
  Permutation(std::uint64_t n, std::uint64_t key);
  [[nodiscard]] std::uint64_t operator()(std::uint64_t i) const;

 private:
  [[nodiscard]] std::uint64_t encrypt(std::uint64_t i) const;
  std::uint64_t n_;
  std::uint64_t key_;
  unsigned half_bits_ = 1;
};

/// How a batch is cut among the ranks.
enum class Cut {
  even,   ///< rank r has samples [r count / R, (r + 1) count / R)
  front,  ///< shares are those of a whole batch: the last ranks have less of a short one, or nothing
};

/// Which samples a rank trains with: each epoch has its own order of all samples, cut into global batches, which are
/// cut among the ranks. A pure function of its arguments: nothing is lost or used twice in an epoch, and the batches
/// are the same on any number of ranks. Local.
class Sampler {
 public:
  Sampler(std::uint64_t samples, std::size_t batch_size, std::uint64_t seed, Cut cut = Cut::even);

  [[nodiscard]] std::uint64_t batches() const { return (samples_ + batch_size_ - 1) / batch_size_; }
  /// Samples of global batch k; the last one may be short.
  [[nodiscard]] std::size_t count(std::uint64_t k) const;
  /// The part of batch k that is a rank's.
  [[nodiscard]] tutti::miniapps::SampleRange part(std::uint64_t k, int rank, int ranks) const;
  [[nodiscard]] Permutation order(std::uint64_t epoch) const;

 private:
  std::uint64_t samples_;
  std::size_t batch_size_;
  std::uint64_t seed_;
  Cut cut_;
};

}  // namespace sgd
