// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <type_traits>

namespace tutti::simulation {

/// MPI's handles, which are numbers in one MPI and pointers in another, for numbers from 1 on.
template <typename T>
T handle_of(int number) {
  if constexpr (std::is_pointer_v<T>)
    return reinterpret_cast<T>(static_cast<std::intptr_t>(number));
  else
    return static_cast<T>(number);
}

template <typename T>
int number_of(T handle) {
  if constexpr (std::is_pointer_v<T>)
    return static_cast<int>(reinterpret_cast<std::intptr_t>(handle));
  else
    return static_cast<int>(handle);
}

}  // namespace tutti::simulation
