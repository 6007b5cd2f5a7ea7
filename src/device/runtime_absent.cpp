// SPDX-License-Identifier: BSD-3-Clause
#include "device/runtime.hpp"

namespace tutti::detail::device {

Runtime* built_runtime() noexcept { return nullptr; }

}  // namespace tutti::detail::device
