// SPDX-License-Identifier: BSD-3-Clause
#include "operation/buffer_use.hpp"

#include <cstring>

#include "core/hash.hpp"
#include "operation/shape.hpp"

namespace tutti::detail {
namespace {

Bytes bytes_of(const void* buffer, const Block& block, std::size_t unit) {
  if (block.count == 0) return {};
  return {static_cast<const std::byte*>(buffer) + block.offset * unit, block.count * unit};
}

}  // namespace

BufferUses uses_of(const Signature& signature, const Binding& binding, int rank, int size) {
  BufferUses uses;
  if (signature.memory == MemoryClass::device) return uses;
  const std::size_t unit = signature.type.size();
  const Shape shape(signature, binding, rank, size);
  if (traits_of(signature.operation).in_place == InPlaceSide::always && shape.is_root()) {
    uses.add_read(bytes_of(binding.output, {0, signature.count}, unit));
    return uses;
  }
  shape.each_read([&](const Block& block) { uses.add_read(bytes_of(binding.input, block, unit)); });
  shape.each_written([&](const Block& block) { uses.add_written(bytes_of(binding.output, block, unit)); });
  return uses;
}

std::uint64_t fingerprint(Bytes bytes, bool all) {
  constexpr std::size_t end = 1024;
  constexpr std::size_t samples = 128;
  if (all || bytes.size() <= 4 * end) return hash_bytes(bytes);
  Hash hash;
  hash.add(hash_bytes(bytes.first(end))).add(hash_bytes(bytes.last(end)));
  const std::size_t stride = (bytes.size() - sizeof(std::uint64_t)) / samples;
  for (std::size_t i = 0; i < samples; ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i * stride, sizeof word);
    hash.add(word);
  }
  return hash.value();
}

}  // namespace tutti::detail
