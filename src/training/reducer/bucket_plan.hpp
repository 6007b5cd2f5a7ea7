// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <tutti/datatype.hpp>
#include <vector>

namespace tutti::detail::reducer {

/// The size of a parameter, which decides its bucket.
struct ParameterSize {
  std::size_t count = 0;  ///< elements
  DatatypeKind type = DatatypeKind::float32;

  [[nodiscard]] std::size_t bytes() const { return count * Datatype(type).size(); }
};

/// The parameters of each bucket: buckets in launch order, parameters in the order in which they become ready.
using BucketPlan = std::vector<std::vector<std::size_t>>;

struct BucketLimits {
  std::size_t bytes = 0;  ///< largest bucket, with padding; a larger parameter gets a bucket of its own
  std::size_t first = 0;  ///< the same limit for the first bucket of each type

  friend bool operator==(const BucketLimits&, const BucketLimits&) = default;
};

/// Fills buckets in `order`, in which gradients are expected to become ready: each bucket has one type, and the buckets
/// are launched in the order in which they become full. Counterpart: compute_bucket_assignment_by_size of PyTorch's
/// reducer, whose last parameter may exceed the limit.
[[nodiscard]] BucketPlan plan_buckets(std::span<const ParameterSize> parameters, std::span<const std::size_t> order,
                                      const BucketLimits& limits);

/// The order to expect before the first step: backward goes through the parameters from the last to the first.
[[nodiscard]] std::vector<std::size_t> reverse_order(std::size_t parameters);

/// `arrival`, then the parameters that it lacks, in reverse order of registration.
[[nodiscard]] std::vector<std::size_t> complete_order(std::span<const std::size_t> arrival, std::size_t parameters);

/// Every gradient begins at a multiple of this many bytes from the start of its bucket.
inline constexpr std::size_t entry_alignment = 64;

/// Where each parameter's gradient begins in its bucket, in elements.
[[nodiscard]] std::vector<std::size_t> entry_offsets(std::span<const ParameterSize> parameters,
                                                     std::span<const std::size_t> bucket);

/// Bytes that a parameter takes in a bucket, with the padding after it. The sum over all parameters does not depend on
/// the plan.
[[nodiscard]] std::size_t padded_bytes(const ParameterSize& parameter);

}  // namespace tutti::detail::reducer
