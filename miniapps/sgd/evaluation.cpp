// SPDX-License-Identifier: BSD-3-Clause
#include "run.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <tutti/collectives/allreduce.hpp>
#include <tutti/range.hpp>

#include "common/loss.hpp"
#include "common/metrics.hpp"
#include "trainer.hpp"

namespace sgd {

namespace mini = tutti::miniapps;

namespace {

constexpr std::uint64_t samples_at_once = 1024;

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

/// What is added up over samples and ranks.
struct Sums {
  double loss = 0;
  double right = 0;
};

}  // namespace

template <typename Float>
Evaluation evaluate_model(const tutti::Communicator& comm, const Options& options, const Source& source, Split split,
                          Model<Float>& model) {
  const tutti::Range range("evaluate");
  const std::uint64_t n = source.samples(split);
  const auto rank = static_cast<std::uint64_t>(comm.rank());
  const auto ranks = static_cast<std::uint64_t>(comm.size());
  const std::uint64_t end = (rank + 1) * n / ranks;
  Sums sums;
  const bool has_auc = source.classes() == 2;
  mini::MetricsSum metrics(has_auc ? n : 0);
  Rows rows;
  for (std::uint64_t k = rank * n / ranks; k < end;) {
    rows.clear();
    for (const std::uint64_t stop = std::min(end, k + samples_at_once); k < stop; ++k) {
      source.append(split, k, rows);
    }
    const auto scores = model.forward(rows);
    const std::vector<Float> wanted(rows.labels.begin(), rows.labels.end());
    sums.loss += mini::score_loss(loss_of(options), scores, model.outputs(), std::span<const Float>(wanted), 1, {});
    for (std::size_t i = 0; source.classes() > 0 && i < rows.size(); ++i) {
      const auto of_sample = scores.subspan(i * model.outputs(), model.outputs());
      sums.right += static_cast<double>(class_of(of_sample)) == rows.labels[i] ? 1 : 0;
      if (!has_auc) continue;
      const auto probability = static_cast<float>(probability_of(of_sample));
      const auto label = static_cast<float>(rows.labels[i]);
      metrics.add(std::span(&probability, 1), std::span(&label, 1));
    }
  }
  std::array<double, 2> all{sums.loss, sums.right};
  tutti::allreduce(comm, all, tutti::sum);
  Evaluation result;
  result.samples = n;
  const auto count = static_cast<double>(std::max<std::uint64_t>(n, 1));
  result.loss = all[0] / count;
  if (source.classes() > 0) {
    result.accuracy = all[1] / count;
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
