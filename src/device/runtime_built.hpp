// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "device/runtime.hpp"

namespace tutti::detail::device {

/// The runtime that was built in: CUDA's, or null.
[[nodiscard]] Runtime* built_runtime() noexcept;

}  // namespace tutti::detail::device
