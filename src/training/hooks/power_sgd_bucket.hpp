// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <tutti/communication_hook.hpp>
#include <tutti/communicator.hpp>

#include "training/hooks/power_sgd_state.hpp"

namespace tutti::training {

/// Reduces one bucket.
class PowerSgdBucket {
 public:
  virtual ~PowerSgdBucket() = default;
  virtual void start(bool compress) = 0;
  virtual bool test() = 0;
  /// Bytes of the vectors that are reduced in one step.
  [[nodiscard]] virtual std::size_t bytes(bool compress) const = 0;
};

/// Collective, blocking. All arguments outlive the result.
[[nodiscard]] std::unique_ptr<PowerSgdBucket> make_power_sgd_bucket(const Communicator& comm,
                                                                    const GradientBucket& bucket,
                                                                    const PowerSgdOptions& options,
                                                                    PowerSgdState& state);

}  // namespace tutti::training
