// SPDX-License-Identifier: BSD-3-Clause
#include "device/per_thread.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <tutti/error.hpp>

namespace tutti::detail::device {

void refuse_per_thread(const Stream& stream, std::string_view who) {
  constexpr std::uintptr_t per_thread = 2;  // cudaStreamPerThread
  if (stream.kind != StreamKind::cuda || reinterpret_cast<std::uintptr_t>(stream.handle) != per_thread) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{}: option stream is cudaStreamPerThread, which is another stream in each thread, and other "
                          "threads launch work for the caller; pass a stream made by cudaStreamCreate, or the default "
                          "stream",
                          who));
}

}  // namespace tutti::detail::device
