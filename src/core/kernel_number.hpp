// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace tutti::detail {

/// A number of the running kernel, equal for all processes and containers of a machine until it boots again; 0:
/// unknown. Virtual machines that go on from one snapshot may have the same one.
[[nodiscard]] std::uint64_t kernel_number();

}  // namespace tutti::detail
