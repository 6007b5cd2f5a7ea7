// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include "device/runtime.hpp"

namespace tutti::detail::device {

/// One object a key, made at its first use and never destroyed: streams may use it until the process ends. Another
/// runtime has its own.
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
