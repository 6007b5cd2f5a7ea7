// SPDX-License-Identifier: BSD-3-Clause
#include "call/deferred_free.hpp"

#include <mutex>
#include <vector>

namespace tutti::detail {

void defer_free_until_exit(std::shared_ptr<void> memory) {
  // Never destroyed, because a message may arrive until the process ends.
  static auto* mutex = new std::mutex;
  static auto* kept = new std::vector<std::shared_ptr<void>>;
  const std::lock_guard lock(*mutex);
  kept->push_back(std::move(memory));
}

}  // namespace tutti::detail
