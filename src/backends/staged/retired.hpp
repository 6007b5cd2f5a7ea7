// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "device/pool.hpp"

namespace tutti::detail::staged {

/// Memory that work on a stream still uses after its operation has returned: it is destroyed by a later call, once the
/// event is complete. Any thread.
void retire(device::Event event, std::shared_ptr<void> memory);

template <typename T>
void retire_later(device::Event event, T&& memory) {
  retire(std::move(event), std::make_shared<std::remove_cvref_t<T>>(std::forward<T>(memory)));
}

/// Destroys what can be. Called before pools are asked.
void sweep_retired();

}  // namespace tutti::detail::staged
