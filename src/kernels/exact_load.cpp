// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/exact_load.hpp"

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/pack.hpp"

namespace tutti::kernels::exact {
namespace {

/// Every `Step`-th number.
template <typename T, std::size_t Step = 1>
const double* widened(const std::byte* from, std::size_t count, double* to) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    T x;
    std::memcpy(&x, from + i * Step * sizeof(T), sizeof x);
    if constexpr (std::is_floating_point_v<T>)
      to[i] = x;
    else
      to[i] = static_cast<double>(static_cast<float>(x));
  }
  return to;
}

template <typename T>
std::size_t selected(const std::byte* mask, const double* numbers, std::size_t count, double* to) noexcept {
  std::size_t n = 0;
  for (std::size_t i = 0; i < count; ++i) {
    T is_in;
    std::memcpy(&is_in, mask + i * sizeof(T), sizeof is_in);
    to[n] = numbers[i];
    n += is_in != 0 ? 1 : 0;
  }
  return n;
}

}  // namespace

const std::byte* elements_of(const Operand& operand, std::size_t first, std::size_t count, Room& room) noexcept {
  const ConstBuffer& buffer = *operand.buffer;
  const std::size_t unit = buffer.type.size();
  first += operand.first;
  if (!buffer.layout) return static_cast<const std::byte*>(buffer.data) + first * unit;
  pack_part(*buffer.layout, unit, buffer.data, first, count, room.packed);
  return room.packed;
}

const double* load(const Operand& operand, std::size_t first, std::size_t count, Room& room) noexcept {
  const std::byte* from = elements_of(operand, first, count, room);
  const DatatypeKind kind = operand.buffer->type.kind();
  if (operand.is_imaginary) from += operand.buffer->type.size() / 2;
  switch (kind) {
    case DatatypeKind::float32:
      return widened<float>(from, count, room.numbers);
    case DatatypeKind::float16:
      return widened<float16_t>(from, count, room.numbers);
    case DatatypeKind::bfloat16:
      return widened<bfloat16_t>(from, count, room.numbers);
    case DatatypeKind::complex64:
      return widened<float, 2>(from, count, room.numbers);
    case DatatypeKind::complex128:
      return widened<double, 2>(from, count, room.numbers);
    default:
      return reinterpret_cast<const double*>(from);
  }
}

std::size_t select(const std::byte* mask, std::size_t unit, const double* numbers, std::size_t count,
                   double* to) noexcept {
  switch (unit) {
    case 1:
      return selected<std::uint8_t>(mask, numbers, count, to);
    case 2:
      return selected<std::uint16_t>(mask, numbers, count, to);
    case 4:
      return selected<std::uint32_t>(mask, numbers, count, to);
    default:
      return selected<std::uint64_t>(mask, numbers, count, to);
  }
}

}  // namespace tutti::kernels::exact
