// SPDX-License-Identifier: BSD-3-Clause
#include "pattern.hpp"

#include <cstring>

#include "values.hpp"

namespace tutti::commbench {
namespace {

using Bytes = std::vector<std::byte>;

void exclusive_or(const void* in, void* inout, std::size_t count, Datatype type, void* /*context*/) {
  const auto* a = static_cast<const unsigned char*>(in);
  auto* b = static_cast<unsigned char*>(inout);
  for (std::size_t i = 0; i < count * type.size(); ++i) b[i] = static_cast<unsigned char>(a[i] ^ b[i]);
}

/// Bytes of an element that mean something: the padding at the end of some pairs is nobody's.
std::size_t significant_bytes(Datatype type) {
  const bool is_padded = type.kind() == DatatypeKind::float64_int32 || type.kind() == DatatypeKind::int64_int32;
  return is_padded ? 12 : type.size();
}

bool is_bytewise(std::optional<ReduceKind> op) { return !op || *op == ReduceKind::user; }

Bytes random_row(std::size_t element, int rank, std::size_t offset, std::size_t length, std::uint64_t iteration) {
  Bytes row(element * length);
  for (std::size_t i = 0; i < length; ++i) {
    const std::uint64_t index = (offset + i) % Pattern::period;
    for (std::size_t b = 0; b < element; b += 8) {
      const std::uint64_t word = hash(rank, index + b * Pattern::period, iteration);
      std::memcpy(row.data() + i * element + b, &word, std::min<std::size_t>(8, element - b));
    }
  }
  return row;
}

/// Elements offset to offset + length of values made by make.operator()<T>(spot).
template <typename Make>
Bytes typed_row(Datatype type, std::size_t offset, std::size_t length, std::uint64_t iteration, int ranks,
                const Make& make) {
  Bytes row(type.size() * length);
  with_type(type.kind(), [&]<typename T>() {
    for (std::size_t i = 0; i < length; ++i) {
      const T value = make.template operator()<T>(Spot{(offset + i) % Pattern::period, iteration, ranks});
      std::memcpy(row.data() + i * sizeof(T), &value, sizeof(T));
    }
  });
  return row;
}

std::optional<std::size_t> first_difference(const std::byte* a, const std::byte* b, std::size_t elements,
                                            Datatype type) {
  const std::size_t size = type.size();
  const std::size_t significant = significant_bytes(type);
  if (significant == size && std::memcmp(a, b, elements * size) == 0) return std::nullopt;
  for (std::size_t i = 0; i < elements; ++i)
    if (std::memcmp(a + i * size, b + i * size, significant) != 0) return i;
  return std::nullopt;
}

}  // namespace

ReduceOp Pattern::operation(ReduceKind kind, int rank) {
  if (kind == ReduceKind::user) return ReduceOp::user(&exclusive_or);
  if (kind == ReduceKind::premul_sum) return ReduceOp::premul_sum(static_cast<double>(premul_scalar(rank)));
  return {kind};
}

Bytes Pattern::row(int rank, std::size_t offset, std::size_t length, std::uint64_t iteration) const {
  if (is_bytewise(op_)) return random_row(type_.size(), rank, offset, length, iteration);
  return typed_row(type_, offset, length, iteration, ranks_,
                   [&]<typename T>(const Spot& spot) { return Values<T>::one(*op_, rank, spot); });
}

Bytes Pattern::combined(const ResultSlice& slice, std::size_t length, std::uint64_t iteration) const {
  if (!is_bytewise(op_))
    return typed_row(type_, slice.offset, length, iteration, ranks_,
                     [&]<typename T>(const Spot& spot) { return Values<T>::all(*op_, slice.first, slice.last, spot); });
  Bytes result = row(slice.first, slice.offset, length, iteration);
  for (int r = slice.first + 1; r <= slice.last; ++r) {
    const Bytes other = row(r, slice.offset, length, iteration);
    for (std::size_t i = 0; i < result.size(); ++i) result[i] ^= other[i];
  }
  return result;
}

void Pattern::fill(std::byte* to, std::size_t elements, int rank, std::uint64_t iteration) const {
  const Bytes first = row(rank, 0, std::min(elements, period), iteration);
  for (std::size_t i = 0; i < elements; i += period)
    std::memcpy(to + i * type_.size(), first.data(), std::min(period, elements - i) * type_.size());
}

std::optional<std::size_t> Pattern::first_wrong(const std::byte* result, const ResultSlice& slice,
                                                std::uint64_t iteration) const {
  const Bytes want = combined(slice, std::min(slice.length, period), iteration);
  for (std::size_t i = 0; i < slice.length; i += period) {
    const auto found = first_difference(result + (slice.at + i) * type_.size(), want.data(),
                                        std::min(period, slice.length - i), type_);
    if (found) return slice.at + i + *found;
  }
  return std::nullopt;
}

Bytes Pattern::expected(const ResultSlice& slice, std::size_t index, std::uint64_t iteration) const {
  return combined({0, 1, slice.first, slice.last, slice.offset + index}, 1, iteration);
}

}  // namespace tutti::commbench
