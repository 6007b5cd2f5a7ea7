// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tutti::detail {

/// The number of communicators that this process has made late and not yet freed.
[[nodiscard]] int late_communicators() noexcept;

}  // namespace tutti::detail
