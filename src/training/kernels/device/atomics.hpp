// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <tutti/detail/export.hpp>

/// Atomic changes by the lanes of a launch, relaxed: what they protect is read by later launches only.
namespace tutti::kernels::device {

template <typename T>
TUTTI_FUNCTION T fetch_add(T* to, T x) {
#if defined(TUTTI_DEVICE_CODE)
  if constexpr (sizeof(T) == sizeof(unsigned long long))
    return static_cast<T>(atomicAdd(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(x)));
  else
    return static_cast<T>(atomicAdd(reinterpret_cast<unsigned*>(to), static_cast<unsigned>(x)));
#else
  return std::atomic_ref<T>(*to).fetch_add(x, std::memory_order_relaxed);
#endif
}

TUTTI_FUNCTION void keep_larger(std::uint64_t* to, std::uint64_t x) {
#if defined(TUTTI_DEVICE_CODE)
  atomicMax(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(x));
#else
  std::atomic_ref<std::uint64_t> there(*to);
  std::uint64_t seen = there.load(std::memory_order_relaxed);
  while (seen < x && !there.compare_exchange_weak(seen, x, std::memory_order_relaxed)) {
  }
#endif
}

}  // namespace tutti::kernels::device
