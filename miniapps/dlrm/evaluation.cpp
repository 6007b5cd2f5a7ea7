// SPDX-License-Identifier: BSD-3-Clause
#include "evaluation.hpp"

#include <tutti/range.hpp>

namespace dlrm {

tutti::miniapps::Metrics evaluate_model(const tutti::Communicator& comm, Engine& engine, BatchFeed& feed) {
  const tutti::Range range("evaluate");
  tutti::miniapps::MetricsSum sum(feed.samples());
  PhaseTimer untimed(0);
  feed.start();
  for (std::uint64_t k = 0; k < feed.batches(); ++k) {
    const BatchFeed::Loaded loaded = feed.next();
    const auto predictions = engine.predict(*loaded.batch, untimed, loaded.error);
    sum.add(predictions, loaded.batch->labels);
  }
  sum.combine(comm);
  return sum.metrics();
}

}  // namespace dlrm
