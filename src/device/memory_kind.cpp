// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/buffer.hpp>

#include "device/runtime.hpp"

namespace tutti {

const char* memory_kind_name(MemoryKind kind) noexcept {
  switch (kind) {
    case MemoryKind::detect:
      return "detect";
    case MemoryKind::host:
      return "host";
    case MemoryKind::pinned:
      return "pinned";
    case MemoryKind::device:
      return "device";
    case MemoryKind::managed:
      return "managed";
  }
  return "unknown";
}

MemoryKind memory_kind(const void* address) {
  detail::device::Runtime* runtime = detail::device::runtime();
  return runtime == nullptr || address == nullptr ? MemoryKind::host : runtime->inspect(address).kind;
}

}  // namespace tutti
