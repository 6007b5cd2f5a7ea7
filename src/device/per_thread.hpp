// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string_view>
#include <tutti/options.hpp>

namespace tutti::detail::device {

[[noreturn]] void throw_per_thread(std::string_view who);
[[nodiscard]] inline bool is_per_thread(const Stream& stream) {
  constexpr std::uintptr_t per_thread = 2;  // cudaStreamPerThread
  return stream.kind == StreamKind::cuda && reinterpret_cast<std::uintptr_t>(stream.handle) == per_thread;
}

/// Throws Error(invalid_argument) for cudaStreamPerThread. Its handle is another stream in each thread, and threads of
/// NCCL and of this library launch work for the caller. who() begins the text.
template <typename Who>
void refuse_per_thread(const Stream& stream, const Who& who) {
  if (is_per_thread(stream)) [[unlikely]]
    throw_per_thread(who());
}

}  // namespace tutti::detail::device
