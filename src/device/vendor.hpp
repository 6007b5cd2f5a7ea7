// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#if defined(TUTTI_HAS_HIP) || defined(__HIPCC__)
#include "device/vendor_hip.hpp"
#else
#include "device/vendor_cuda.hpp"
#endif

#include <string>
#include <tutti/error.hpp>

/// Calls a function of the runtime, TUTTI_GPU_CALL(GetDevice, &device), and throws Error if it fails.
#define TUTTI_GPU_CALL(name, ...) ::tutti::detail::device::check(TUTTI_GPU(name)(__VA_ARGS__), TUTTI_GPU_TEXT(name))

namespace tutti::detail::device {

/// Clears the error that the runtime keeps, so that the caller's next question for its last error does not report this
/// library's.
inline void forget(TUTTI_GPU(Error_t) code) noexcept {
  if (TUTTI_GPU(PeekAtLastError)() == code) (void)TUTTI_GPU(GetLastError)();
}

inline void check(TUTTI_GPU(Error_t) code, const char* what) {
  if (code == TUTTI_GPU(Success)) return;
  forget(code);
  const ErrorCode kind = code == TUTTI_GPU(ErrorMemoryAllocation) ? ErrorCode::out_of_memory : ErrorCode::cuda;
  throw Error(kind, std::string(what) + " failed: " + TUTTI_GPU(GetErrorString)(code) + " (" +
                        TUTTI_GPU(GetErrorName)(code) + ")");
}

}  // namespace tutti::detail::device
