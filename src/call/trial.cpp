// SPDX-License-Identifier: BSD-3-Clause
#include "call/trial.hpp"

#include <algorithm>

#include "call/machine.hpp"
#include "call/plan.hpp"
#include "core/hash.hpp"
#include "core/stopwatch.hpp"

namespace tutti::detail {

Trial::Trial(std::vector<std::shared_ptr<const Plan>> ways)
    : ways_(std::move(ways)), samples_(ways_.size()), sums_(ways_.size(), 0.0) {}

bool Trial::note(double seconds) {
  if (is_heat_over()) return false;
  if (measures()) {
    Samples& samples = samples_[current()];
    samples.seconds[samples.count++] = seconds;
  }
  ++calls_;
  return is_heat_over();
}

void Trial::write_times(std::span<double> times) {
  for (std::size_t i = 0; i < ways_.size(); ++i) times[i] = median_in_place(samples_[i].seconds);
}

void Trial::judge(std::span<const double> slowest) {
  if (heat_ == 0) {
    const double ratio = slowest.front() / first()->expected;
    surprises_ = ratio > surprise || ratio < 1 / surprise;
  }
  for (std::size_t i = 0; i < ways_.size(); ++i) sums_[i] += slowest[i];
  const double best = *std::min_element(sums_.begin(), sums_.end());
  const bool keeps_first = sums_.front() <= best * worthwhile;
  keep_promising();
  if (++heat_ == heats || ways_.size() == 1) {
    const auto fastest = std::min_element(sums_.begin(), sums_.end()) - sums_.begin();
    winner_ = keeps_first ? ways_.front() : ways_[static_cast<std::size_t>(fastest)];
  }
  for (Samples& samples : samples_) samples.count = 0;
  calls_ = settled_calls;
}

/// Ways that are far behind leave.
void Trial::keep_promising() {
  const double best = *std::min_element(sums_.begin(), sums_.end());
  std::size_t kept = 0;
  for (std::size_t i = 0; i < ways_.size(); ++i) {
    if (sums_[i] > best * hopeless) continue;
    ways_[kept] = ways_[i];
    sums_[kept++] = sums_[i];
  }
  ways_.resize(kept);
  sums_.resize(kept);
}

std::uint64_t Trial::digest() const {
  Hash hash;
  hash.add(calls_).add(heat_).add(winner_ ? std::string_view(winner_->way) : std::string_view());
  for (const auto& way : ways_) hash.add(std::string_view(way->way));
  return hash.value();
}

std::shared_ptr<Trial> Trials::find(const Signature& signature) {
  if (const auto found = trials_.find(signature); found != trials_.end()) return found->second;
  if (!inherited_) return nullptr;
  const auto left = inherited_->trials_.find(signature);
  if (left == inherited_->trials_.end()) return nullptr;
  auto copy = std::make_shared<Trial>(*left->second);
  add(signature, copy);
  return copy;
}

Trials Trials::with(const Trials& earlier) const {
  Trials all;
  all.trials_ = trials_;
  if (trials_.size() + earlier.trials_.size() > capacity) return all;
  for (const auto& [signature, trial] : earlier.trials_) {
    auto& kept = all.trials_[signature];
    if (!kept || trial->winner()) kept = trial;
  }
  return all;
}

/// The tables of two ranks may have another order.
std::uint64_t Trials::digest() const {
  std::uint64_t sum = 0;
  for (const auto& [signature, trial] : trials_)
    sum += mix_bits(Hash().add(SignatureHash()(signature)).add(trial->digest()).value());
  return sum;
}

std::uint64_t facts_of_ways(const Machine& machine) {
  Hash hash;
  hash.add(machine.native_blocking).add(machine.shared_memory).add(machine.single_copy).add(machine.mapped_copy);
  return hash.add(machine.node_memory.is_shared).value();
}

void Heritage::leave(const Trials& trials, std::uint64_t facts) {
  if (trials.empty() || trials.has_waiting()) return;
  const std::lock_guard lock(mutex_);
  const bool is_same = left_.trials && left_.facts == facts;
  auto all = std::make_shared<const Trials>(trials.with(is_same ? *left_.trials : Trials()));
  const std::uint64_t digest = Hash().add(all->digest()).add(facts).value() | 1U;
  left_ = {std::move(all), facts, digest};
}

}  // namespace tutti::detail
