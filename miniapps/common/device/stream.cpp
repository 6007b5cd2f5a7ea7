// SPDX-License-Identifier: BSD-3-Clause
#include "stream.hpp"

#include <atomic>

namespace tutti::miniapps::device {

namespace {

std::atomic<HostFunctions> replaced{nullptr};

}  // namespace

HostFunctions host_functions() noexcept { return replaced.load(std::memory_order_acquire); }

void replace_host_functions(HostFunctions other) noexcept { replaced.store(other, std::memory_order_release); }

}  // namespace tutti::miniapps::device
