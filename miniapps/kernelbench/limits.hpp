// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "benchmarks.hpp"
#include "measure.hpp"

namespace tutti::kernelbench {

/// What a computation needs at least.
struct Work {
  double operations = 0;
  double bytes = 0;
};

/// What a process reaches in the same run: operations a second of one large product of matrices, and bytes a second of
/// a large copy, read and written bytes counted.
class Limits {
 public:
  /// `product` makes the large product, of so many operations.
  Limits(const LimitSettings& settings, std::function<void()> product, double operations);

  /// To be measured beside what they bound.
  [[nodiscard]] std::vector<Candidate> candidates();
  /// By the seconds of these candidates, in their order.
  void take(const std::vector<double>& seconds);

  /// Adds the rates to a result.
  void add_to(nlohmann::json& result) const;
  /// Adds what is known of a computation: time, rates, the time of the limit that it meets first, and the part that
  /// this is of its own.
  void add_to(nlohmann::json& result, const std::string& name, const Work& work, double seconds) const;

 private:
  std::function<void()> product_;
  double product_operations_;
  std::vector<std::byte> from_;
  std::vector<std::byte> to_;
  double operations_per_second_ = 0;
  double bytes_per_second_ = 0;
};

}  // namespace tutti::kernelbench
