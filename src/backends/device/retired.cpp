// SPDX-License-Identifier: BSD-3-Clause
#include "backends/device/retired.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <tutti/error.hpp>
#include <vector>

namespace tutti::detail {
namespace {

struct Entry {
  std::shared_ptr<const device::Event> event;
  std::shared_ptr<void> memory;
};

struct List {
  std::mutex mutex;
  std::vector<Entry> entries;
  std::atomic<std::size_t> count{0};
  std::uint64_t generation = 0;  ///< runtime of these events

  void forget_others() {
    if (generation != device::runtime_generation()) entries.clear();
    generation = device::runtime_generation();
  }
};

/// Never destroyed, because the device's runtime may end before the statics of this file.
List& list() {
  static auto* made = new List;
  return *made;
}

bool is_over(const Entry& entry) {
  try {
    return entry.event->is_complete();
  } catch (const Error&) {
    return false;  // Keeps the memory, because a device that failed may still write.
  }
}

}  // namespace

void retire(device::Event event, std::shared_ptr<void> memory) {
  retire(std::make_shared<const device::Event>(std::move(event)), std::move(memory));
}

void retire(std::shared_ptr<const device::Event> event, std::shared_ptr<void> memory) {
  List& all = list();
  const std::lock_guard lock(all.mutex);
  all.forget_others();
  all.entries.push_back({std::move(event), std::move(memory)});
  all.count.store(all.entries.size(), std::memory_order_relaxed);
}

void sweep_retired() {
  List& all = list();
  if (all.count.load(std::memory_order_relaxed) == 0) return;
  std::vector<Entry> over;  // destroyed without the lock
  const std::lock_guard lock(all.mutex);
  all.forget_others();
  const auto first =
      std::stable_partition(all.entries.begin(), all.entries.end(), [](const Entry& entry) { return !is_over(entry); });
  std::move(first, all.entries.end(), std::back_inserter(over));
  all.entries.erase(first, all.entries.end());
  all.count.store(all.entries.size(), std::memory_order_relaxed);
}

}  // namespace tutti::detail
