// SPDX-License-Identifier: BSD-3-Clause
#include "training/reducer/bucket_plan.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace tutti::detail::reducer {
namespace {

struct Filling {
  std::vector<std::size_t> parameters;
  std::size_t bytes = 0;  ///< with padding
  std::size_t last = 0;   ///< place of its last parameter in the order
  std::size_t limit = 0;
};

}  // namespace

BucketPlan plan_buckets(std::span<const ParameterSize> parameters, std::span<const std::size_t> order,
                        const BucketLimits& limits) {
  std::map<DatatypeKind, Filling> open;
  std::vector<Filling> full;
  for (std::size_t place = 0; place < order.size(); ++place) {
    const ParameterSize& parameter = parameters[order[place]];
    auto [found, is_first] = open.try_emplace(parameter.type);
    Filling& bucket = found->second;
    if (is_first) bucket.limit = std::min(limits.first, limits.bytes);
    // The bucket ends with its last gradient; every other one is padded.
    if (!bucket.parameters.empty() && bucket.bytes + parameter.bytes() > bucket.limit) {
      full.push_back(std::move(bucket));
      bucket = Filling{};
      bucket.limit = limits.bytes;
    }
    bucket.parameters.push_back(order[place]);
    bucket.bytes += padded_bytes(parameter);
    bucket.last = place;
  }
  for (auto& [type, bucket] : open) full.push_back(std::move(bucket));
  std::sort(full.begin(), full.end(), [](const Filling& a, const Filling& b) { return a.last < b.last; });
  BucketPlan plan;
  plan.reserve(full.size());
  for (Filling& bucket : full) plan.push_back(std::move(bucket.parameters));
  return plan;
}

std::vector<std::size_t> reverse_order(std::size_t parameters) {
  std::vector<std::size_t> order(parameters);
  std::iota(order.rbegin(), order.rend(), std::size_t{0});
  return order;
}

std::vector<std::size_t> complete_order(std::span<const std::size_t> arrival, std::size_t parameters) {
  std::vector<std::size_t> order(arrival.begin(), arrival.end());
  std::vector<bool> has(parameters, false);
  for (const std::size_t i : arrival) has[i] = true;
  for (std::size_t i = parameters; i-- > 0;)
    if (!has[i]) order.push_back(i);
  return order;
}

std::vector<std::size_t> entry_offsets(std::span<const ParameterSize> parameters, std::span<const std::size_t> bucket) {
  std::vector<std::size_t> offsets;
  offsets.reserve(bucket.size());
  std::size_t bytes = 0;
  for (const std::size_t i : bucket) {
    offsets.push_back(bytes / Datatype(parameters[i].type).size());
    bytes += padded_bytes(parameters[i]);
  }
  return offsets;
}

std::size_t padded_bytes(const ParameterSize& parameter) {
  return (parameter.bytes() + entry_alignment - 1) / entry_alignment * entry_alignment;
}

}  // namespace tutti::detail::reducer
