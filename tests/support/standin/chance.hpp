// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>

namespace tutti::standin {

/// What the stand-ins leave to chance, by the seed TUTTI_TEST_SEED: how far streams go when somebody asks, how long
/// NCCL is in progress, how long work takes. Without a seed nothing is: a stream goes on only where somebody asks for
/// it, the least that CUDA promises. Any thread.
class Chance {
 public:
  [[nodiscard]] static Chance& instance() {
    static auto* only = new Chance;
    return *only;
  }

  [[nodiscard]] bool is_on() const noexcept { return seed_ != 0; }
  /// A number below n, n > 0; 0 without a seed.
  [[nodiscard]] std::uint64_t below(std::uint64_t n) noexcept { return seed_ == 0 ? 0 : next() % n; }
  /// True once in n times; never without a seed.
  [[nodiscard]] bool one_in(std::uint64_t n) noexcept { return seed_ != 0 && next() % n == 0; }

 private:
  Chance() {
    const char* seed = std::getenv("TUTTI_TEST_SEED");
    if (seed == nullptr) return;
    // Each rank has numbers of its own: MPICH's launcher says its rank to it, or Open MPI's.
    const char* rank = std::getenv("PMI_RANK");
    if (rank == nullptr) rank = std::getenv("OMPI_COMM_WORLD_RANK");
    seed_ = std::strtoull(seed, nullptr, 10) * 1024;
    if (seed_ != 0 && rank != nullptr) seed_ += std::strtoull(rank, nullptr, 10);
  }
  /// Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014: SplitMix64.
  std::uint64_t next() noexcept {
    std::uint64_t z = seed_ + 0x9e3779b97f4a7c15U * (1 + count_.fetch_add(1, std::memory_order_relaxed));
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }

  std::uint64_t seed_ = 0;
  std::atomic<std::uint64_t> count_{0};
};

}  // namespace tutti::standin
