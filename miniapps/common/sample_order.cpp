// SPDX-License-Identifier: BSD-3-Clause
#include "sample_order.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <tutti/error.hpp>
#include <utility>

#include "counter_permutation.hpp"
#include "numpy_random.hpp"

namespace tutti::miniapps {

Shuffle shuffle_kind(const std::string& name) {
  constexpr std::array<std::pair<const char*, Shuffle>, 6> kinds{{{"none", Shuffle::none},
                                                                  {"total", Shuffle::total},
                                                                  {"day", Shuffle::day},
                                                                  {"epoch", Shuffle::epoch},
                                                                  {"batches", Shuffle::batches},
                                                                  {"interleaved", Shuffle::interleaved}}};
  for (const auto& [text, kind] : kinds) {
    if (name == text) {
      return kind;
    }
  }
  throw Error(ErrorCode::invalid_argument,
              "'" + name + "' is not one of total, day, epoch, batches, interleaved, none");
}

Shuffle without_days(Shuffle shuffle) {
  if (shuffle == Shuffle::day) {
    throw Error(ErrorCode::invalid_argument,
                "--data-randomize=day is for Criteo text; use total, epoch, batches, interleaved or none");
  }
  return shuffle;
}

namespace {

/// The reference's order: one generator shuffles all samples, or those of one day after the other.
std::vector<std::uint32_t> numpy_order(Shuffle shuffle, std::uint32_t seed, std::span<const std::uint64_t> days) {
  const std::uint64_t count = days.back();
  if (count > std::numeric_limits<std::uint32_t>::max()) {
    throw Error(ErrorCode::not_supported,
                std::to_string(count) +
                    " training samples are more than the reference's order can number (2^32 - 1); "
                    "use --data-randomize=epoch, batches, interleaved or none");
  }
  std::vector<std::uint32_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0U);
  NumpyRandom random(seed);
  if (shuffle == Shuffle::total) {
    random.shuffle(order);
    return order;
  }
  for (std::size_t d = 0; d + 1 < days.size(); ++d) {
    random.shuffle(std::span(order).subspan(days[d], days[d + 1] - days[d]));
  }
  return order;
}

}  // namespace

SampleOrder::SampleOrder(Shuffle shuffle, std::uint32_t seed, std::span<const std::uint64_t> days)
    : shuffle_(shuffle), seed_(seed), count_(days.back()) {
  if (shuffle == Shuffle::total || shuffle == Shuffle::day) {
    kept_ = numpy_order(shuffle, seed, days);
  }
}

// A short last batch stays the last one.
std::uint64_t SampleOrder::first_of_batch(std::uint64_t k, std::size_t batch_size) const {
  const std::uint64_t whole = count_ / batch_size;
  const bool moves = shuffle_ == Shuffle::batches && k < whole;
  return batch_size * (moves ? CounterPermutation(whole, seed_, epoch_)(k) : k);
}

// Stretch s fills places [s B / n, (s + 1) B / n) of every whole batch of B; a short last batch is what is left.
SampleRun SampleOrder::run(std::uint64_t k, std::size_t batch_size, std::size_t begin, std::size_t end) const {
  const std::uint64_t whole = count_ / batch_size;
  if (shuffle_ != Shuffle::interleaved || k >= whole) {
    return {first_of_batch(k, batch_size) + begin, end - begin};
  }
  constexpr std::uint64_t n = interleaved_stretches;
  const std::uint64_t stretch = ((begin + 1) * n - 1) / batch_size;
  const std::uint64_t low = stretch * batch_size / n;
  const std::uint64_t high = (stretch + 1) * batch_size / n;
  return {whole * low + k * (high - low) + (begin - low), std::min(end, static_cast<std::size_t>(high)) - begin};
}

void SampleOrder::number(std::uint64_t first, std::span<std::uint64_t> numbers) const {
  if (!kept_.empty()) {
    std::copy_n(kept_.begin() + static_cast<std::ptrdiff_t>(first), numbers.size(), numbers.begin());
    return;
  }
  const CounterPermutation order(count_, seed_, epoch_);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = order(first + i);
  }
}

}  // namespace tutti::miniapps
