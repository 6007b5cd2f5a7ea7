// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include "device/runtime.hpp"

namespace tutti::detail::device {

/// One object per key, made at its first use and never destroyed, because streams may use it until the process ends.
/// Each runtime has its own objects.
template <typename Key, typename T>
class Kept {
 public:
  template <typename Make>
  T& of(const Key& key, const Make& make) {
    const std::lock_guard lock(mutex_);
    T*& found = all_[{runtime_generation(), key}];
    if (found == nullptr) found = make();
    return *found;
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<std::uint64_t, Key>, T*> all_;
};

}  // namespace tutti::detail::device
