// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "call/deferred_free.hpp"
#include "device/pool.hpp"

/// Memory that work on a stream still uses after its owner is gone: a blocking call that returned at once, a request
/// that a stream waits for. Any thread.
namespace tutti::detail {

/// Keeps memory until the event is complete; for ever if the device reports an error, because it may still write. The
/// event must be recorded on a stream that is not captured.
void retire(std::shared_ptr<const device::Event> event, std::shared_ptr<void> memory);
void retire(device::Event event, std::shared_ptr<void> memory);

/// The same for memory held by value, which is never freed if the list has no room.
template <typename Event, typename T>
void retire_later(Event event, T&& memory) noexcept {
  auto kept = std::forward<T>(memory);
  try {
    retire(std::move(event), std::make_shared<std::remove_cvref_t<T>>(std::move(kept)));
  } catch (...) {
    defer_free(std::move(kept));
  }
}

/// Frees the memory whose events are complete. Called before pools are asked; not under capture, since it asks events.
void sweep_retired();

}  // namespace tutti::detail
