// SPDX-License-Identifier: BSD-3-Clause
#include <mutex>
#include <utility>
#include <vector>

#include "device/kept.hpp"
#include "device/pool.hpp"

namespace tutti::detail::device {

/// Unused events of a device.
class EventPool {
 public:
  static EventPool& of(int device) {
    static auto* all = new Kept<int, EventPool>;
    return all->of(device, [&] { return new EventPool(device); });
  }

  [[nodiscard]] int device() const noexcept { return device_; }

  EventHandle acquire() {
    {
      const std::lock_guard lock(mutex_);
      if (!unused_.empty()) {
        EventHandle event = unused_.back();
        unused_.pop_back();
        return event;
      }
    }
    const Guard guard(device_);
    return required_runtime("an event").create_event();
  }

  void give_back(EventHandle event) noexcept {
    const std::lock_guard lock(mutex_);
    try {
      unused_.push_back(event);
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): the event is lost with the memory
    }
  }

 private:
  explicit EventPool(int device) : device_(device) {}
  int device_;
  std::mutex mutex_;
  std::vector<EventHandle> unused_;
};

Event::Event(Event&& other) noexcept
    : pool_(std::exchange(other.pool_, nullptr)), handle_(std::exchange(other.handle_, nullptr)) {}

Event& Event::operator=(Event&& other) noexcept {
  if (this == &other) return *this;
  reset();
  pool_ = std::exchange(other.pool_, nullptr);
  handle_ = std::exchange(other.handle_, nullptr);
  return *this;
}

void Event::reset() noexcept {
  if (handle_ != nullptr) pool_->give_back(handle_);
  pool_ = nullptr;
  handle_ = nullptr;
}

std::shared_ptr<const Event> recorded(int device, StreamHandle stream) {
  auto event = std::make_shared<Event>();
  event->record(device, stream);
  return event;
}

void Event::record(int device, StreamHandle stream) {
  EventPool& pool = EventPool::of(device);
  if (pool_ != &pool) {
    reset();
    handle_ = pool.acquire();
    pool_ = &pool;
  }
  const Guard guard(device);
  required_runtime("an event").record(handle_, stream);
}

bool Event::is_complete() const {
  if (handle_ == nullptr) return true;
  const Guard guard(pool_->device());
  return required_runtime("an event").is_complete(handle_);
}

}  // namespace tutti::detail::device
