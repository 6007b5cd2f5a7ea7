// SPDX-License-Identifier: BSD-3-Clause
#include "limits.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tutti::kernelbench {

Limits::Limits(const LimitSettings& settings, std::function<void()> product, double operations)
    : product_(std::move(product)),
      product_operations_(operations),
      from_(settings.copy_bytes, std::byte{1}),
      to_(settings.copy_bytes) {}

std::vector<Candidate> Limits::candidates() {
  return {{"product", [this](int) { product_(); }},
          {"copy", [this](int) { std::memcpy(to_.data(), from_.data(), to_.size()); }}};
}

void Limits::take(const std::vector<double>& seconds) {
  operations_per_second_ = product_operations_ / seconds.at(0);
  bytes_per_second_ = 2 * static_cast<double>(to_.size()) / seconds.at(1);
}

void Limits::add_to(nlohmann::json& result) const {
  result["peak_gflop_per_s"] = operations_per_second_ / 1e9;
  result["copy_gb_per_s"] = bytes_per_second_ / 1e9;
}

void Limits::add_to(nlohmann::json& result, const std::string& name, const Work& work, double seconds) const {
  const double computing = work.operations / operations_per_second_;
  const double moving = work.bytes / bytes_per_second_;
  const double limit = std::max(computing, moving);
  result[name + "_ms"] = seconds * 1e3;
  result[name + "_gflop_per_s"] = work.operations / seconds / 1e9;
  result[name + "_gb_per_s"] = work.bytes / seconds / 1e9;
  result[name + "_limit_ms"] = limit * 1e3;
  result[name + "_limited_by"] = computing >= moving ? "products" : "copies";
  result[name + "_over_limit"] = limit / seconds;
}

}  // namespace tutti::kernelbench
