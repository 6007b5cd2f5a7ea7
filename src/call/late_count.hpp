// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tutti::detail {

/// The number of communicators that this process has made late and not yet freed.
[[nodiscard]] int late_communicators() noexcept;

/// The number of communicators of the host MPI that this process holds for the library, late ones among them.
[[nodiscard]] int private_communicators() noexcept;

/// Counts those that are not made late. change: how many more there are.
void count_private(int change) noexcept;

}  // namespace tutti::detail
