// SPDX-License-Identifier: BSD-3-Clause
#include "device/nvtx.hpp"

#include <algorithm>
#include <array>

#if defined(TUTTI_HAS_CUDA_HEADERS) && __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>

namespace tutti::detail::device {

void nvtx_push(std::string_view name) noexcept {
  std::array<char, 104> text{};
  std::copy_n(name.data(), std::min(name.size(), text.size() - 1), text.begin());
  (void)nvtxRangePushA(text.data());
}

void nvtx_pop() noexcept { (void)nvtxRangePop(); }

}  // namespace tutti::detail::device

#else

namespace tutti::detail::device {

void nvtx_push(std::string_view /*name*/) noexcept {}
void nvtx_pop() noexcept {}

}  // namespace tutti::detail::device

#endif
