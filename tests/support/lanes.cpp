// SPDX-License-Identifier: BSD-3-Clause
#include "support/lanes.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <utility>

namespace tutti::lanes {

namespace {

constexpr std::byte unwritten{0xA5};

std::mt19937_64& generator() {
  static std::mt19937_64 only(1);
  return only;
}

std::vector<const char*>& faults() {
  static std::vector<const char*> all;
  return all;
}

}  // namespace

void set_seed(std::uint64_t seed) { generator().seed(seed); }

std::vector<const char*> take_faults() { return std::exchange(faults(), {}); }

std::vector<std::size_t> shuffled(std::size_t count) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), generator());
  return order;
}

Scratch::Scratch(std::size_t bytes)
    : bytes_(bytes), now_(bytes, unwritten), before_(now_), after_(now_), written_(bytes) {}

void Scratch::report(const char* fault) {
  constexpr std::size_t most = 100;
  if (faults().size() < most) faults().push_back(fault);
}

void Scratch::begin() {
  if (now_ != after_) report("all lanes wrote at once");
  before_ = now_;
  after_ = now_;
  written_.assign(bytes_, false);
}

void Scratch::leave() {
  constexpr std::size_t line = 64;
  for (std::size_t first = 0; first < bytes_; first += line) {
    const std::size_t end = std::min(first + line, bytes_);
    if (std::memcmp(now_.data() + first, before_.data() + first, end - first) != 0) take(first, end);
  }
}

void Scratch::take(std::size_t first, std::size_t end) {
  for (std::size_t at = first; at < end; ++at) {
    if (now_[at] == before_[at]) continue;
    if (written_[at]) report("two lanes wrote");
    written_[at] = true;
    after_[at] = std::exchange(now_[at], before_[at]);
  }
}

void Scratch::end() { now_ = after_; }

}  // namespace tutti::lanes
