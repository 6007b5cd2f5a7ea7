// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <tutti/datatype.hpp>
#include <vector>

namespace tutti::detail::reducer {

/// What an assignment to buckets needs to know of a parameter.
struct ParameterSize {
  std::size_t count = 0;  ///< elements
  DatatypeKind type = DatatypeKind::float32;

  [[nodiscard]] std::size_t bytes() const { return count * Datatype(type).size(); }
};

/// Parameters by bucket; buckets in the order of launching, parameters in the order in which they are ready.
using BucketPlan = std::vector<std::vector<std::size_t>>;

struct BucketLimits {
  std::size_t bytes = 0;  ///< at most so much, but one parameter at least
  std::size_t first = 0;  ///< the same for the first bucket of each type

  friend bool operator==(const BucketLimits&, const BucketLimits&) = default;
};

/// Fills buckets along `order`, the expected order of ready gradients: each of one type, launched in the order in which
/// they become full. Counterpart: compute_bucket_assignment_by_size of PyTorch's reducer, which lets the last parameter
/// go beyond the limit.
[[nodiscard]] BucketPlan plan_buckets(std::span<const ParameterSize> parameters, std::span<const std::size_t> order,
                                      const BucketLimits& limits);

/// The order before any step has been seen: what is registered last has its gradient first.
[[nodiscard]] std::vector<std::size_t> reverse_order(std::size_t parameters);

/// `arrival` and, after it, what it lacks, in reverse order of registration.
[[nodiscard]] std::vector<std::size_t> complete_order(std::span<const std::size_t> arrival, std::size_t parameters);

/// Begins of gradients in a bucket are multiples of so many bytes.
inline constexpr std::size_t entry_alignment = 64;

/// Elements from the bucket's begin to each of its parameters' gradients.
[[nodiscard]] std::vector<std::size_t> entry_offsets(std::span<const ParameterSize> parameters,
                                                     std::span<const std::size_t> bucket);

/// Bytes that a parameter takes in a bucket, with what lies between it and the next one: the sum over all parameters
/// does not depend on the plan.
[[nodiscard]] std::size_t padded_bytes(const ParameterSize& parameter);

}  // namespace tutti::detail::reducer
