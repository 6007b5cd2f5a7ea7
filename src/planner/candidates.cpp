// SPDX-License-Identifier: BSD-3-Clause
#include "planner/candidates.hpp"

#include <algorithm>

#include "backends/list.hpp"

namespace tutti::detail {
namespace {

std::vector<Candidate> collected(const Signature& signature, const Machine& machine) {
  Candidates all(signature, machine, collected);
  for (const Backend* backend : backends()) all.ask(*backend);
  return std::move(all).take();
}

}  // namespace

std::vector<Candidate> candidates(const Signature& signature, const Machine& machine) {
  std::vector<Candidate> all = collected(signature, machine);
  std::stable_sort(all.begin(), all.end(), precedes);
  return all;
}

}  // namespace tutti::detail
