// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstring>
#include <memory>

#include "kernels/combine_families.hpp"

namespace tutti::kernels {

namespace {

constexpr std::size_t piece_bytes = 32768;

const std::byte* at(const void* data, std::size_t offset) { return static_cast<const std::byte*>(data) + offset; }

}  // namespace

// The user's function overwrites its higher operand, so every further input is copied before it is combined.
void combine_user(Datatype type, const ReduceOp& op, std::span<const void* const> inputs, void* output,
                  std::size_t count) {
  const std::size_t piece = std::max<std::size_t>(1, piece_bytes / type.size());
  const auto scratch = std::make_unique<std::byte[]>(2 * std::min(piece, count) * type.size());
  std::byte* lower = scratch.get();
  std::byte* higher = lower + std::min(piece, count) * type.size();
  for (std::size_t begin = 0; begin < count; begin += piece) {
    const std::size_t n = std::min(piece, count - begin);
    const std::size_t offset = begin * type.size();
    const std::size_t bytes = n * type.size();
    std::memcpy(lower, at(inputs[0], offset), bytes);
    for (std::size_t k = 1; k < inputs.size(); ++k) {
      std::memcpy(higher, at(inputs[k], offset), bytes);
      op.function()(lower, higher, n, type, op.context());
      std::swap(lower, higher);
    }
    std::memcpy(static_cast<std::byte*>(output) + offset, lower, bytes);
  }
}

}  // namespace tutti::kernels
