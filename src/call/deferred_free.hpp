// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace tutti::detail {

/// Keeps memory until the process ends, because messages of a failed operation may still read or write it.
inline void defer_free_until_exit(std::shared_ptr<void> memory) {
  // Never destroyed, because a message may arrive until the process ends.
  static auto* mutex = new std::mutex;
  static auto* kept = new std::vector<std::shared_ptr<void>>;
  const std::lock_guard lock(*mutex);
  kept->push_back(std::move(memory));
}

template <typename T>
void defer_free(T&& memory) noexcept {
  try {
    defer_free_until_exit(std::make_shared<std::remove_cvref_t<T>>(std::forward<T>(memory)));
  } catch (...) {  // NOLINT(bugprone-empty-catch): without memory for the list nothing better can be done
  }
}

}  // namespace tutti::detail
