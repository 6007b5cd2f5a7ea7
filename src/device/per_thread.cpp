// SPDX-License-Identifier: BSD-3-Clause
#include "device/per_thread.hpp"

#include <fmt/format.h>

#include <tutti/error.hpp>

namespace tutti::detail::device {

void throw_per_thread(std::string_view who) {
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{}: option stream is cudaStreamPerThread, which is another stream in each thread, and other "
                          "threads launch work for the caller; pass a stream made by cudaStreamCreate, or the default "
                          "stream",
                          who));
}

}  // namespace tutti::detail::device
