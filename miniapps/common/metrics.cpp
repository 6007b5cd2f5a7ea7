// SPDX-License-Identifier: BSD-3-Clause
#include "metrics.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <tutti/collectives/allgather.hpp>
#include <tutti/collectives/allgatherv.hpp>
#include <tutti/error.hpp>
#include <vector>

namespace tutti::miniapps {

namespace {

struct Sample {
  float score;
  float label;
};

std::vector<Sample> checked(std::span<const float> scores, std::span<const float> labels) {
  if (scores.size() != labels.size()) {
    throw Error(ErrorCode::invalid_argument, "metrics: " + std::to_string(scores.size()) + " scores and " +
                                                 std::to_string(labels.size()) + " labels");
  }
  std::vector<Sample> samples(scores.size());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (std::isnan(scores[i])) {
      throw Error(ErrorCode::invalid_argument, "metrics: the score of test sample " + std::to_string(i) +
                                                   " is NaN; the training has diverged, lower the learning rate");
    }
    if (labels[i] != 0.0F && labels[i] != 1.0F) {
      throw Error(ErrorCode::invalid_argument, "metrics: the label of test sample " + std::to_string(i) + " is " +
                                                   std::to_string(labels[i]) + ", neither 0 nor 1");
    }
    samples[i] = {scores[i], labels[i]};
  }
  return samples;
}

/// Mann-Whitney over sorted samples: twice the number of (positive, negative) pairs in the right order, ties once.
double exact_auc(const std::vector<Sample>& sorted, std::uint64_t positives) {
  const std::uint64_t negatives = sorted.size() - positives;
  std::uint64_t twice = 0;
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < sorted.size();) {
    std::uint64_t tied_positives = 0;
    std::uint64_t tied_negatives = 0;
    const float score = sorted[i].score;
    for (; i < sorted.size() && sorted[i].score == score; ++i) {
      ++(sorted[i].label == 1.0F ? tied_positives : tied_negatives);
    }
    twice += tied_positives * (2 * below + tied_negatives);
    below += tied_negatives;
  }
  return static_cast<double>(twice) / (2.0 * static_cast<double>(positives) * static_cast<double>(negatives));
}

double log_loss(const Sample& s) {
  const auto p = static_cast<double>(s.label == 1.0F ? s.score : 1.0F - s.score);
  return -std::max(std::log(p), -100.0);
}

}  // namespace

Metrics evaluate(std::span<const float> scores, std::span<const float> labels) {
  std::vector<Sample> samples = checked(scores, labels);
  std::sort(samples.begin(), samples.end(), [](const Sample& a, const Sample& b) {
    return a.score < b.score || (a.score == b.score && a.label < b.label);
  });
  Metrics metrics;
  metrics.samples = samples.size();
  std::uint64_t positives = 0;
  std::uint64_t right = 0;
  double loss = 0;
  for (const Sample& s : samples) {
    positives += s.label == 1.0F ? 1 : 0;
    right += std::nearbyint(s.score) == s.label ? 1 : 0;
    loss += log_loss(s);
  }
  if (positives == 0 || positives == samples.size()) {
    throw Error(ErrorCode::invalid_argument,
                "metrics: all " + std::to_string(samples.size()) + " labels are of one class, so there is no AUC");
  }
  const auto count = static_cast<double>(samples.size());
  metrics.auc = exact_auc(samples, positives);
  metrics.accuracy = static_cast<double>(right) / count;
  metrics.log_loss = loss / count;
  return metrics;
}

Metrics evaluate(const Communicator& comm, std::span<const float> scores, std::span<const float> labels) {
  const auto ranks = static_cast<std::size_t>(comm.size());
  const std::vector<std::uint64_t> mine{scores.size(), labels.size()};
  std::vector<std::uint64_t> lengths(2 * ranks);
  allgather(comm, mine, lengths);
  std::vector<std::size_t> counts(ranks);
  std::vector<std::size_t> displacements(ranks);
  std::size_t total = 0;
  for (std::size_t r = 0; r < ranks; ++r) {
    if (lengths[2 * r] != lengths[2 * r + 1]) {
      throw Error(ErrorCode::invalid_argument, "metrics: rank " + std::to_string(r) + " has " +
                                                   std::to_string(lengths[2 * r]) + " scores and " +
                                                   std::to_string(lengths[2 * r + 1]) + " labels");
    }
    counts[r] = lengths[2 * r];
    displacements[r] = total;
    total += counts[r];
  }
  std::vector<float> all_scores(total);
  std::vector<float> all_labels(total);
  allgatherv(comm, scores, all_scores, counts, displacements);
  allgatherv(comm, labels, all_labels, counts, displacements);
  return evaluate(all_scores, all_labels);
}

}  // namespace tutti::miniapps
