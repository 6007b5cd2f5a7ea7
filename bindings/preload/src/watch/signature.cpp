// SPDX-License-Identifier: BSD-3-Clause
#include "watch/signature.hpp"

#include <numeric>
#include <vector>

#include "core/hash.hpp"
#include "types.hpp"
#include "watch/letter.hpp"

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

/// The arguments that a derived type was made with; frees the types among them.
struct Contents {
  std::vector<int> integers;
  std::vector<MPI_Aint> addresses;
  std::vector<MPI_Datatype> types;

  Contents(MPI_Datatype type, int integer_count, int address_count, int type_count)
      : integers(static_cast<std::size_t>(integer_count)),
        addresses(static_cast<std::size_t>(address_count)),
        types(static_cast<std::size_t>(type_count)) {
    PMPI_Type_get_contents(type, integer_count, address_count, type_count, integers.data(), addresses.data(),
                           types.data());
  }
  ~Contents() {
    for (MPI_Datatype& part : types) {
      int integer_count = 0;
      int address_count = 0;
      int type_count = 0;
      int combiner = 0;
      PMPI_Type_get_envelope(part, &integer_count, &address_count, &type_count, &combiner);
      if (combiner != MPI_COMBINER_NAMED) PMPI_Type_free(&part);
    }
  }
  Contents(const Contents&) = delete;
  Contents& operator=(const Contents&) = delete;
  [[nodiscard]] std::uint64_t integer(std::size_t i) const { return static_cast<std::uint64_t>(integers[i]); }
};

Signature of_structure(const Contents& contents) {
  Signature all;
  for (std::size_t i = 0; i < contents.types.size(); ++i)
    all = joined(all, signature_of(contents.types[i], contents.integer(i + 1)));
  return all;
}

Signature of_element(MPI_Datatype type) {
  int integer_count = 0;
  int address_count = 0;
  int type_count = 0;
  int combiner = 0;
  PMPI_Type_get_envelope(type, &integer_count, &address_count, &type_count, &combiner);
  if (combiner == MPI_COMBINER_NAMED) return by_size(type, true);
  if (type_count == 0) return by_size(type, false);
  const Contents contents(type, integer_count, address_count, type_count);
  switch (combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
      return signature_of(contents.types[0], 1);
    case MPI_COMBINER_CONTIGUOUS:
      return signature_of(contents.types[0], contents.integer(0));
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK:
      return signature_of(contents.types[0], contents.integer(0) * contents.integer(1));
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED: {
      const auto first = contents.integers.begin() + 1;
      const int items = std::accumulate(first, first + contents.integers[0], 0);
      return signature_of(contents.types[0], static_cast<std::uint64_t>(items));
    }
    case MPI_COMBINER_STRUCT:
      return of_structure(contents);
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
