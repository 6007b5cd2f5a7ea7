// SPDX-License-Identifier: BSD-3-Clause
#include "watch/signature.hpp"

#include "construction.hpp"
#include "core/hash.hpp"
#include "types.hpp"
#include "watch/record.hpp"

namespace tutti::preload {
namespace {

constexpr std::uint64_t base = 0x9e3779b97f4a7c15ULL;

std::uint64_t power(std::uint64_t exponent) {
  std::uint64_t result = 1;
  for (std::uint64_t factor = base; exponent != 0; exponent >>= 1U, factor *= factor)
    if ((exponent & 1U) != 0) result *= factor;
  return result;
}

/// Predefined types of one family and size are the same for Fortran and C; the others have equal names on all ranks.
Signature by_size(MPI_Datatype type, bool is_known) {
  const Type* facts = type_of(type);
  if (facts == nullptr) return {0, 1, 0, false};
  const bool has_class =
      facts->family == Family::integer || facts->family == Family::real || facts->family == Family::complex;
  const std::uint64_t number =
      has_class ? static_cast<std::uint64_t>(facts->family) : tutti::detail::hash(type_name(type));
  return {number * base + facts->size, 1, facts->size, is_known && type != MPI_PACKED};
}

std::uint64_t items_of(const Construction& made, std::size_t argument) {
  return static_cast<std::uint64_t>(made.number(argument));
}

/// Blocks of one type, whose lengths stand behind their number.
Signature of_blocks(const Construction& made) {
  std::uint64_t items = 0;
  for (std::size_t i = 1; i <= items_of(made, 0); ++i) items += items_of(made, i);
  return signature_of(made.parts()[0], items);
}

Signature of_structure(const Construction& made) {
  Signature all;
  for (std::size_t i = 0; i < made.parts().size(); ++i)
    all = joined(all, signature_of(made.parts()[i], items_of(made, i + 1)));
  return all;
}

Signature of_element(MPI_Datatype type) {
  const Construction made(type);
  if (made.is_named()) return by_size(type, made.combiner() == MPI_COMBINER_NAMED);
  switch (made.combiner()) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
      return signature_of(made.parts()[0], 1);
    case MPI_COMBINER_CONTIGUOUS:
      return signature_of(made.parts()[0], items_of(made, 0));
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK:
      return signature_of(made.parts()[0], items_of(made, 0) * items_of(made, 1));
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED:
      return of_blocks(made);
    case MPI_COMBINER_STRUCT:
      return of_structure(made);
    default:
      return by_size(type, false);
  }
}

}  // namespace

Signature joined(const Signature& first, const Signature& second) {
  return {first.hash * power(second.items) + second.hash, first.items + second.items, first.bytes + second.bytes,
          first.is_known && second.is_known};
}

Signature repeated(Signature part, std::uint64_t times) {
  Signature all;
  for (; times != 0; times >>= 1U, part = joined(part, part))
    if ((times & 1U) != 0) all = joined(all, part);
  return all;
}

Signature signature_of(MPI_Datatype type, std::uint64_t count) {
  return count == 0 ? Signature{} : repeated(of_element(type), count);
}

}  // namespace tutti::preload
