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

BufferUses data_of(const Signature& signature, const Binding& binding, int rank, int size) {
  BufferUses data;
  const Operation operation = signature.operation;
  const OperationTraits& row = traits_of(operation);
  const std::size_t unit = signature.type.size();
  const Shape shape(signature, binding, rank, size);
  const bool has_one_buffer = row.in_place == InPlaceSide::always;
  const auto read = [&](const Block& block) {
    data.add_read(bytes_of(has_one_buffer ? binding.output : binding.input, block, unit));
  };
  const auto write = [&](const Block& block) { data.add_written(bytes_of(binding.output, block, unit)); };
  if (has_one_buffer ? shape.is_root() : has_input(operation, shape.is_root())) {
    if (row.given == BlockKind::counted && !combines(operation))
      for (int to = 0; to < size; ++to) read(shape.given(to));
    else
      read({0, has_one_buffer ? signature.count : shape.input_end()});
  }
  if (!has_output(operation, shape.is_root()) || (combines(operation) && !shape.has_result(rank))) return data;
  if (row.taken == BlockKind::each || row.taken == BlockKind::counted)
    for (int from = 0; from < size; ++from) write(shape.taken(from));
  else
    write(shape.taken(rank));
  return data;
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
