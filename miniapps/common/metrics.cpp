// SPDX-License-Identifier: BSD-3-Clause
#include "metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tutti/collectives/allgather.hpp>
#include <tutti/collectives/allgatherv.hpp>
#include <tutti/collectives/allreduce.hpp>
#include <tutti/error.hpp>

#include "agree.hpp"

namespace tutti::miniapps {

namespace {

constexpr std::size_t intervals = std::size_t{1} << 21;

std::size_t interval_of(float score) {
  const double place = std::clamp(static_cast<double>(score), 0.0, 1.0) * static_cast<double>(intervals);
  return std::min(static_cast<std::size_t>(place), intervals - 1);
}

double loss_of(float score, float label) {
  const auto p = static_cast<double>(label == 1.0F ? score : 1.0F - score);
  return -std::max(std::log(p), -100.0);
}

/// Twice the number of pairs of a one and a zero in the right order, ties once.
struct Pairs {
  std::uint64_t twice = 0;
  std::uint64_t zeros_below = 0;

  void add(std::uint64_t zeros, std::uint64_t ones) {
    twice += ones * (2 * zeros_below + zeros);
    zeros_below += zeros;
  }
};

/// How many elements of a sorted list from `at` on are equal to the score.
std::size_t ties(const std::vector<float>& sorted, std::size_t at, float score) {
  const std::size_t begin = at;
  while (at < sorted.size() && sorted[at] == score) ++at;
  return at - begin;
}

Pairs pairs_of(std::vector<float> zeros, std::vector<float> ones) {
  std::sort(zeros.begin(), zeros.end());
  std::sort(ones.begin(), ones.end());
  Pairs pairs;
  for (std::size_t z = 0, o = 0; z < zeros.size() || o < ones.size();) {
    const bool zero_first = o == ones.size() || (z < zeros.size() && zeros[z] < ones[o]);
    const float score = zero_first ? zeros[z] : ones[o];
    const std::size_t of_zeros = ties(zeros, z, score);
    const std::size_t of_ones = ties(ones, o, score);
    pairs.add(of_zeros, of_ones);
    z += of_zeros;
    o += of_ones;
  }
  return pairs;
}

std::vector<float> gathered(const Communicator& comm, const std::vector<float>& own) {
  std::vector<std::size_t> counts(static_cast<std::size_t>(comm.size()));
  const std::array<std::size_t, 1> count{own.size()};
  allgather(comm, count, counts);
  std::vector<std::size_t> displacements(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), displacements.begin(), std::size_t{0});
  std::vector<float> all(displacements.back() + counts.back());
  allgatherv(comm, own, all, counts, displacements);
  return all;
}

/// The log loss of a model that always predicts the share of ones.
double entropy(double share) { return -(share * std::log(share) + (1 - share) * std::log1p(-share)); }

}  // namespace

std::string metrics_text(const Metrics& m) {
  return fmt::format(
      "AUC {:.6f}, accuracy {:.3f} %, log loss {:.6f}, normalized entropy {:.6f}, calibration {:.6f} ({} samples)",
      m.auc, 100 * m.accuracy, m.log_loss, m.normalized_entropy, m.calibration, m.samples);
}

MetricsSum::MetricsSum(std::uint64_t samples) : interval_(samples > exact_auc ? intervals : 0) {}

void MetricsSum::add(std::span<const float> scores, std::span<const float> labels) {
  if (scores.size() != labels.size() && fault_.empty())
    fault_ = fmt::format("metrics: {} scores and {} labels", scores.size(), labels.size());
  for (std::size_t i = 0; i < scores.size() && fault_.empty(); ++i) add(scores[i], labels[i]);
}

void MetricsSum::add(float score, float label) {
  if (std::isnan(score)) {
    fault_ =
        fmt::format("metrics: the score of test sample {} is NaN; the training has diverged, lower the learning rate",
                    counts_.samples);
  } else if (label != 0.0F && label != 1.0F) {
    fault_ = fmt::format("metrics: the label of test sample {} is {}, neither 0 nor 1", counts_.samples, label);
  } else {
    const std::size_t one = label == 1.0F ? 1 : 0;
    ++counts_.samples;
    counts_.ones += one;
    counts_.right += std::nearbyint(score) == label ? 1 : 0;
    sums_[0].add(loss_of(score, label));
    sums_[1].add(static_cast<double>(score));
    if (interval_.empty()) {
      scores_[one].push_back(score);
    } else {
      ++interval_[interval_of(score)][one];
    }
  }
}

void MetricsSum::combine(const Communicator& comm) {
  agree(comm, fault_);
  std::array<std::uint64_t, 3> counts{counts_.samples, counts_.ones, counts_.right};
  allreduce(comm, counts, sum);
  counts_ = {counts[0], counts[1], counts[2]};
  exact_allreduce(comm, sums_);
  if (interval_.empty()) {
    for (std::vector<float>& scores : scores_) scores = gathered(comm, scores);
  } else {
    allreduce(comm, interval_.front().data(), 2 * interval_.size(), sum);
  }
}

double MetricsSum::auc() const {
  Pairs pairs;
  if (interval_.empty()) {
    pairs = pairs_of(scores_[0], scores_[1]);
  } else {
    for (const auto& [zeros, ones] : interval_) pairs.add(zeros, ones);
  }
  const auto ones = static_cast<double>(counts_.ones);
  const auto zeros = static_cast<double>(counts_.samples - counts_.ones);
  return static_cast<double>(pairs.twice) / (2.0 * ones * zeros);
}

Metrics MetricsSum::metrics() const {
  if (!fault_.empty()) throw Error(ErrorCode::invalid_argument, fault_);
  constexpr double undefined = std::numeric_limits<double>::quiet_NaN();
  const auto samples = static_cast<double>(counts_.samples);
  const auto ones = static_cast<double>(counts_.ones);
  const bool two_classes = counts_.ones > 0 && counts_.ones < counts_.samples;
  Metrics metrics;
  metrics.samples = counts_.samples;
  metrics.auc = two_classes ? auc() : undefined;
  metrics.accuracy = static_cast<double>(counts_.right) / samples;
  metrics.log_loss = sums_[0].rounded() / samples;
  metrics.normalized_entropy = two_classes ? metrics.log_loss / entropy(ones / samples) : undefined;
  metrics.calibration = counts_.ones > 0 ? sums_[1].rounded() / ones : undefined;
  return metrics;
}

}  // namespace tutti::miniapps
