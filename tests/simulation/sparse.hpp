// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>

namespace tutti::simulation {

/// A map of few of all numbers, most of which are asked for again soon.
template <typename T>
class Sparse {
 public:
  /// Null if there is none.
  [[nodiscard]] T* find(std::uint64_t key) {
    Recent& recent = recent_of(key);
    if (recent.value != nullptr && recent.key == key) return recent.value;
    const auto found = all_.find(key);
    if (found == all_.end()) return nullptr;
    recent = {key, &found->second};
    return recent.value;
  }
  [[nodiscard]] T& at(std::uint64_t key) {
    T* found = find(key);
    return found != nullptr ? *found : all_[key];
  }
  void erase(std::uint64_t key) {
    recent_of(key) = {};
    all_.erase(key);
  }

 private:
  struct Recent {
    std::uint64_t key = 0;
    T* value = nullptr;
  };
  [[nodiscard]] Recent& recent_of(std::uint64_t key) {
    return recent_[(key * 0x9E3779B97F4A7C15ULL >> 54U) % recent_.size()];
  }

  std::unordered_map<std::uint64_t, T> all_;
  std::array<Recent, 1024> recent_{};
};

}  // namespace tutti::simulation
