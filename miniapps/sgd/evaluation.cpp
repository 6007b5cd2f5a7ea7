// SPDX-License-Identifier: BSD-3-Clause
#include "run.hpp"

#include <algorithm>
#include <cmath>
#include <tutti/collectives/allreduce.hpp>
#include <tutti/embedding_collection.hpp>
#include <tutti/exact.hpp>
#include <tutti/range.hpp>

#include "common/loss.hpp"
#include "common/metrics.hpp"
#include "trainer.hpp"

namespace sgd {

namespace mini = tutti::miniapps;

namespace {

/// The parts do not depend on the number of ranks, and neither do then the bits of the scores.
constexpr std::uint64_t samples_at_once = 512;

/// The predicted class of one score (two classes) or of several.
std::size_t class_of(auto scores) {
  return scores.size() == 1 ? (scores[0] > 0 ? 1U : 0U)
                            : static_cast<std::size_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
}

/// The probability of class 1 of two.
double probability_of(auto scores) {
  const auto odds = static_cast<double>(scores.size() == 1 ? scores[0] : scores[1] - scores[0]);
  return 1 / (1 + std::exp(-odds));
}

}  // namespace

template <typename Float>
Evaluation evaluate_model(const tutti::Communicator& comm, const Options& options, const Source& source, Split split,
                          Model<Float>& model) {
  const tutti::Range range("evaluate");
  const std::uint64_t n = source.samples(split);
  const auto mine = tutti::sample_slice((n + samples_at_once - 1) / samples_at_once, comm.rank(), comm.size());
  std::vector<double> losses;
  std::uint64_t right = 0;
  const bool has_auc = source.classes() == 2;
  mini::MetricsSum metrics(has_auc ? n : 0);
  Rows rows;
  for (std::uint64_t part = mine.begin; part < mine.end; ++part) {
    rows.clear();
    for (std::uint64_t k = part * samples_at_once; k < std::min(n, (part + 1) * samples_at_once); ++k) {
      source.append(split, k, rows);
    }
    const auto scores = model.forward(rows);
    const std::vector<Float> wanted(rows.labels.begin(), rows.labels.end());
    losses.push_back(
        mini::score_loss(loss_of(options), scores, model.outputs(), std::span<const Float>(wanted), 1, {}));
    for (std::size_t i = 0; source.classes() > 0 && i < rows.size(); ++i) {
      const auto of_sample = scores.subspan(i * model.outputs(), model.outputs());
      right += static_cast<double>(class_of(of_sample)) == rows.labels[i] ? 1 : 0;
      if (!has_auc) continue;
      const auto probability = static_cast<float>(probability_of(of_sample));
      const auto label = static_cast<float>(rows.labels[i]);
      metrics.add(std::span(&probability, 1), std::span(&label, 1));
    }
  }
  double loss = 0;
  tutti::exact_sum(comm, losses, tutti::Buffer(&loss, 1));
  tutti::allreduce(comm, &right, 1, tutti::sum);
  Evaluation result;
  result.samples = n;
  const auto count = static_cast<double>(std::max<std::uint64_t>(n, 1));
  result.loss = loss / count;
  if (source.classes() > 0) {
    result.accuracy = static_cast<double>(right) / count;
  }
  if (has_auc) {
    metrics.combine(comm);
    if (const double auc = metrics.metrics().auc; !std::isnan(auc)) result.auc = auc;
  }
  return result;
}

template Evaluation evaluate_model(const tutti::Communicator&, const Options&, const Source&, Split, Model<float>&);
template Evaluation evaluate_model(const tutti::Communicator&, const Options&, const Source&, Split, Model<double>&);

}  // namespace sgd
