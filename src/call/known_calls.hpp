// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <memory>
#include <unordered_map>

#include "call/plan.hpp"
#include "call/repeats.hpp"
#include "call/trial.hpp"

namespace tutti::detail {

/// The plans of one communicator. Plans follow from shared facts alone, so a rank may drop and rebuild them.
class PlanCache {
 public:
  /// Valid until the next call.
  template <typename Make>
  const std::shared_ptr<const Plan>& get(const Signature& signature, Make&& make) {
    std::shared_ptr<const Plan>& recent = recent_[place_of(signature)];
    if (recent && recent->signature == signature) return recent;
    auto found = plans_.find(signature);
    if (found == plans_.end()) {
      if (plans_.size() >= capacity) plans_.clear();
      found = plans_.emplace(signature, make(signature)).first;
    }
    recent = found->second;
    return recent;
  }
  /// Replaces the plan of a signature if there is one. Takes no memory.
  void replace(const Signature& signature, const std::shared_ptr<const Plan>& plan) {
    const auto found = plans_.find(signature);
    if (found != plans_.end()) found->second = plan;
    std::shared_ptr<const Plan>& recent = recent_[place_of(signature)];
    if (recent && recent->signature == signature) recent = plan;
  }
  [[nodiscard]] std::size_t size() const { return plans_.size(); }
  void clear() {
    plans_.clear();
    recent_ = {};
  }

 private:
  static constexpr std::size_t capacity = 4096;
  std::unordered_map<Signature, std::shared_ptr<const Plan>, SignatureHash> plans_;
  // Programs repeat a few calls in turn, so these are found without hashing the whole signature.
  static constexpr std::size_t recent_places = 64;
  [[nodiscard]] static std::size_t place_of(const Signature& s) {
    const std::size_t mixed = s.count * 0x9E3779B97F4A7C15ULL + static_cast<std::size_t>(s.operation) * 5 +
                              static_cast<std::size_t>(s.kind) * 3 + static_cast<std::size_t>(s.type.kind());
    return (mixed ^ mixed >> 32U) % recent_places;
  }
  std::array<std::shared_ptr<const Plan>, recent_places> recent_{};
};

/// What a communicator knows of the calls that it has made.
struct KnownCalls {
  PlanCache plans{};
  Repeats repeats{};
  Trials trials{};
  /// The last exact sums of many values in a row in which each rank's were single numbers. Equal on all ranks.
  std::size_t single_sums = 0;
  std::shared_ptr<Heritage> heritage{};  ///< of trials; null: none are handed on
};

}  // namespace tutti::detail
