// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

namespace tutti::detail::device {

/// Opens and closes ranges of this thread for NVIDIA's tools. They do nothing in a build without CUDA, and cost the
/// test of a pointer if no tool is attached. A name of more than 103 bytes is cut.
void nvtx_push(std::string_view name) noexcept;
void nvtx_pop() noexcept;

}  // namespace tutti::detail::device
