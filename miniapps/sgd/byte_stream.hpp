// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <tutti/error.hpp>
#include <type_traits>
#include <vector>

namespace sgd {

/// Adds the bytes of values to a block of state.
template <typename T>
requires std::is_trivially_copyable_v<T>
void append_bytes(std::vector<std::byte>& block, std::span<const T> values) {
  const std::size_t before = block.size();
  block.resize(before + values.size_bytes());
  if (!values.empty()) {
    std::memcpy(block.data() + before, values.data(), values.size_bytes());
  }
}

/// Takes values off the front of a block of state. Throws tutti::Error (io) where too little is left.
template <typename T>
requires std::is_trivially_copyable_v<T>
void take_bytes(std::span<const std::byte>& block, std::span<T> values) {
  if (block.size() < values.size_bytes()) {
    throw tutti::Error(tutti::ErrorCode::io, "saved state is " + std::to_string(values.size_bytes() - block.size()) +
                                                 " bytes short: it is of another model or optimizer");
  }
  if (!values.empty()) {
    std::memcpy(values.data(), block.data(), values.size_bytes());
  }
  block = block.subspan(values.size_bytes());
}

}  // namespace sgd
