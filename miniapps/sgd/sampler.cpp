// SPDX-License-Identifier: BSD-3-Clause
#include "sampler.hpp"

#include <algorithm>
#include <bit>

#include "common/counter_random.hpp"

namespace sgd {

namespace mini = tutti::miniapps;

namespace {

constexpr unsigned rounds = 6;
constexpr std::uint64_t order_stream = 12;

}  // namespace

Permutation::Permutation(std::uint64_t n, std::uint64_t key)
    : n_(n), key_(key), half_bits_(std::max(1U, (static_cast<unsigned>(std::bit_width(n > 0 ? n - 1 : 0)) + 1) / 2)) {}

std::uint64_t Permutation::encrypt(std::uint64_t i) const {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  std::uint64_t left = i >> half_bits_;
  std::uint64_t right = i & mask;
  for (unsigned r = 0; r < rounds; ++r) {
    const std::uint64_t mixed = left ^ (mini::mix_counter(mini::mix_counter(key_ + r) ^ right) & mask);
    left = right;
    right = mixed;
  }
  return (left << half_bits_) | right;
}

std::uint64_t Permutation::operator()(std::uint64_t i) const {
  do {
    i = encrypt(i);
  } while (i >= n_);
  return i;
}

Sampler::Sampler(std::uint64_t samples, std::size_t batch_size, std::uint64_t seed, Cut cut)
    : samples_(samples), batch_size_(batch_size), seed_(seed), cut_(cut) {}

std::size_t Sampler::count(std::uint64_t k) const {
  return static_cast<std::size_t>(std::min<std::uint64_t>(batch_size_, samples_ - k * batch_size_));
}

mini::SampleRange Sampler::part(std::uint64_t k, int rank, int ranks) const {
  const std::size_t n = count(k);
  const auto r = static_cast<std::size_t>(rank);
  const auto all = static_cast<std::size_t>(ranks);
  const std::size_t whole = cut_ == Cut::even ? n : batch_size_;
  return {std::min(n, r * whole / all), std::min(n, (r + 1) * whole / all)};
}

Permutation Sampler::order(std::uint64_t epoch) const {
  return {samples_, mini::CounterRandom(seed_, order_stream).bits(epoch)};
}

}  // namespace sgd
