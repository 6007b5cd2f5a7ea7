// SPDX-License-Identifier: BSD-3-Clause
#include "device/allocations.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "device/flag.hpp"
#include "device/runtime.hpp"
#include "device/traffic.hpp"

namespace tutti::detail::device {
namespace {

/// Whether waiting for the device waits for the program's own kernels only.
bool is_at_rest(int device) noexcept { return Traffic::of(device).is_idle() && Flag::closed_count() == 0; }

/// Whether a launch of this thread drives the operation that asks.
bool is_launching(int device) noexcept { return Traffic::of(device).launch_mutex().is_mine(); }

}  // namespace

Allocations& Allocations::instance() {
  // Never destroyed: allocations of static objects may end after the statics of this file.
  static auto* all = new Allocations;
  return *all;
}

std::uint64_t Allocations::add(std::byte* base, std::size_t bytes, MemoryKind kind, int device,
                               std::function<void()> release) {
  const std::unique_lock lock(mutex_);
  const std::uint64_t id = ++last_id_;
  live_[base] = {{base, bytes, id, kind, device}, runtime_generation(), std::move(release), {}};
  count_.store(live_.size(), std::memory_order_release);
  return id;
}

void Allocations::retire(std::uint64_t id) noexcept {
  {
    const std::unique_lock lock(mutex_);
    const auto found = std::ranges::find_if(live_, [&](const auto& entry) { return entry.second.range.id == id; });
    if (found == live_.end()) return;
    retired_.push_back(std::move(found->second));
    live_.erase(found);
    count_.store(live_.size(), std::memory_order_release);
  }
  sweep();
}

/// The program's kernels may use the memory until the device is done, and only cudaFree waits for that: neither
/// ncclMemFree does nor a deregistration. NCCL's work is not waited for here, since it may need this thread's progress.
bool Allocations::finish_work_on(const AddressRange& range) noexcept {
  Traffic& traffic = Traffic::of(range.device);
  if (traffic.has_line()) return false;
  const std::lock_guard no_launch(traffic.launch_mutex());
  if (!is_at_rest(range.device)) return false;
  try {
    const Guard guard(range.device);
    required_runtime("device memory").finish_device();
    return true;
  } catch (const std::exception&) {  // a stream of the device is under capture
    return false;
  }
}

bool Allocations::end(Entry& entry) noexcept {
  // The memory of a replaced runtime no longer exists.
  if (entry.generation != runtime_generation()) return true;
  if (!finish_work_on(entry.range)) return false;
  const auto call = [](const std::function<void()>& function) noexcept {
    try {
      function();
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): the memory is gone either way
    }
  };
  for (const Watcher& watcher : entry.watchers) call(watcher.before_release);
  const std::lock_guard no_launch(Traffic::of(entry.range.device).launch_mutex());
  call([&] {
    const Guard guard(entry.range.device);
    entry.release();
  });
  return true;
}

Allocations::Hold::Hold() {
  const std::lock_guard ending(instance().ending_);
  ++instance().holds_;
}

Allocations::Hold::~Hold() {
  {
    const std::lock_guard ending(instance().ending_);
    --instance().holds_;
  }
  instance().sweep();
}

void Allocations::sweep() noexcept {
  const std::lock_guard ending(ending_);
  if (holds_ > 0) return;
  std::vector<Entry> ended;
  {
    const std::unique_lock lock(mutex_);
    const auto can_end = [](const Entry& entry) {
      return entry.generation != runtime_generation() ||
             (!is_launching(entry.range.device) && is_at_rest(entry.range.device));
    };
    const auto first = std::stable_partition(retired_.begin(), retired_.end(), std::not_fn(can_end));
    std::move(first, retired_.end(), std::back_inserter(ended));
    retired_.erase(first, retired_.end());
  }
  std::erase_if(ended, end);
  if (ended.empty()) return;
  const std::unique_lock lock(mutex_);
  std::move(ended.begin(), ended.end(), std::back_inserter(retired_));
}

std::optional<Allocations::AddressRange> Allocations::find(const void* address) const {
  if (count_.load(std::memory_order_acquire) == 0) return std::nullopt;
  const auto* at = static_cast<const std::byte*>(address);
  const std::shared_lock lock(mutex_);
  auto next = live_.upper_bound(at);
  if (next == live_.begin()) return std::nullopt;
  const AddressRange& range = (--next)->second.range;
  if (static_cast<std::size_t>(at - range.base) >= range.bytes) return std::nullopt;
  return range;
}

bool Allocations::watch(std::uint64_t id, const void* watcher, std::function<void()> before_release) {
  const std::unique_lock lock(mutex_);
  const auto found = std::ranges::find_if(live_, [&](const auto& entry) { return entry.second.range.id == id; });
  if (found == live_.end()) return false;
  found->second.watchers.push_back({watcher, std::move(before_release)});
  return true;
}

void Allocations::unwatch(const void* watcher) noexcept {
  const std::lock_guard ending(ending_);
  const std::unique_lock lock(mutex_);
  const auto forget = [&](Entry& entry) {
    std::erase_if(entry.watchers, [&](const Watcher& w) { return w.who == watcher; });
  };
  for (auto& [base, entry] : live_) forget(entry);
  for (Entry& entry : retired_) forget(entry);
}

}  // namespace tutti::detail::device
