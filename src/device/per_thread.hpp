// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>
#include <tutti/options.hpp>

namespace tutti::detail::device {

/// Throws Error(invalid_argument) for cudaStreamPerThread. Its handle is another stream in each thread, and threads of
/// NCCL and of this library launch work for the caller. who: begins the text.
void refuse_per_thread(const Stream& stream, std::string_view who);

}  // namespace tutti::detail::device
