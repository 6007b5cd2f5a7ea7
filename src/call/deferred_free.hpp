// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <utility>

namespace tutti::detail {

/// Keeps memory until the process ends, because messages of a failed operation may still read or write it.
void defer_free_until_exit(std::shared_ptr<void> memory);

template <typename T>
void defer_free(T&& memory) noexcept {
  try {
    defer_free_until_exit(std::make_shared<std::remove_cvref_t<T>>(std::forward<T>(memory)));
  } catch (...) {  // NOLINT(bugprone-empty-catch): without memory for the list nothing better can be done
  }
}

}  // namespace tutti::detail
