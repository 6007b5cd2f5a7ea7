// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>

#include "tools/answer.hpp"

namespace tutti::tools::testing {

/// A question about an imagined machine, without a table of measurements.
struct Ask {
  Question question{};
  int ranks = 4;
  int nodes = 1;
  int cores = 64;

  [[nodiscard]] Case make() const {
    Surroundings where;
    where.topology = imagined_topology(ranks, nodes, cores, Place{});
    where.shm = !question.no_shm;
    where.single_copy = !question.no_single_copy;
    where.progress_hook = question.progress_hook;
    if (!question.algorithm.empty()) where.named_by = "--algorithm";
    return {signature_of(question, ranks), std::move(where), question.rank};
  }
};

[[nodiscard]] inline Ask ask(const std::string& operation, const std::string& bytes,
                             const std::string& algorithm = "") {
  Ask made;
  made.question.operation = operation;
  made.question.bytes = bytes;
  made.question.algorithm = algorithm;
  return made;
}

}  // namespace tutti::tools::testing
