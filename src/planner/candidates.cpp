// SPDX-License-Identifier: BSD-3-Clause
#include "planner/candidates.hpp"

#include <algorithm>
#include <tuple>

#include "backends/list.hpp"

namespace tutti::detail {

std::vector<Candidate> candidates(const Signature& signature, const Machine& machine) {
  Candidates collected(signature, machine, candidates);
  for (const Backend* backend : backends()) backend->add_candidates(collected);
  std::vector<Candidate> all = std::move(collected).take();
  const auto order = [](const Candidate& c) {
    return std::tuple(!c.can_be_chosen(), !c.preferred, !c.measured, c.seconds);
  };
  std::stable_sort(all.begin(), all.end(),
                   [&order](const Candidate& a, const Candidate& b) { return order(a) < order(b); });
  return all;
}

}  // namespace tutti::detail
