// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

namespace tutti::miniapps::device {

using StreamHandle = void*;  ///< a cudaStream_t

/// Calls a function in the order of a stream.
using HostFunctions = void (*)(StreamHandle stream, std::function<void()> function);

/// Null but in tests whose device is the host: there the bodies of kernels are functions of the host.
[[nodiscard]] HostFunctions host_functions() noexcept;

/// Tests only.
void replace_host_functions(HostFunctions other) noexcept;

}  // namespace tutti::miniapps::device
