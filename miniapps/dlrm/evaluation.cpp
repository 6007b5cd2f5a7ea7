// SPDX-License-Identifier: BSD-3-Clause
#include "evaluation.hpp"

#include <tutti/range.hpp>

#include "common/agree.hpp"

namespace dlrm {

tutti::miniapps::Metrics evaluate_model(const tutti::Communicator& comm, Engine& engine, BatchFeed& feed) {
  const tutti::Range range("evaluate");
  std::vector<float> scores;
  std::vector<float> labels;
  PhaseTimer untimed(0);
  feed.start();
  for (std::uint64_t k = 0; k < feed.batches(); ++k) {
    const BatchFeed::Loaded loaded = feed.next();
    const auto predictions = engine.predict(*loaded.batch, untimed, loaded.error);
    scores.insert(scores.end(), predictions.begin(), predictions.end());
    labels.insert(labels.end(), loaded.batch->labels.begin(), loaded.batch->labels.end());
  }
  tutti::miniapps::Metrics metrics;
  tutti::miniapps::run_agreed(comm, [&] { metrics = tutti::miniapps::evaluate(comm, scores, labels); });
  return metrics;
}

}  // namespace dlrm
