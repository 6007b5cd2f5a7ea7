// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <tutti/communicator.hpp>
#include <vector>

#include "training/reducer/bucket_plan.hpp"
#include "training/reducer/tuner.hpp"

namespace tutti::detail::reducer {

/// The state that a reducer keeps between steps.
struct Saved {
  std::uint64_t steps = 0;
  bool order_settled = false;
  bool rebuilt = false;
  std::vector<std::size_t> order;  ///< the order in which gradients are expected
  BucketPlan plan;
  Tuner::Progress tuner;
  std::vector<std::byte> hook;
};

[[nodiscard]] std::vector<std::byte> encode(const Saved& saved);
/// Throws Error(io) unless the bytes are from encode(), for a reducer with `parameters` parameters.
[[nodiscard]] Saved decode(std::span<const std::byte> bytes, std::size_t parameters);

/// decode() that fails on every rank if it fails on any: io; or mismatch if the ranks' states are not from the same
/// save(). Collective over `comm`; blocking.
[[nodiscard]] Saved agreed_state(const Communicator& comm, std::span<const std::byte> bytes, std::size_t parameters);

}  // namespace tutti::detail::reducer
