// SPDX-License-Identifier: BSD-3-Clause
#include "construction.hpp"

#include "core/host_mpi.hpp"
#include "host.hpp"

namespace tutti::preload {
namespace {

/// How many arguments of each kind a constructor had. The MPI ends the program that asks for the small ones of a type
/// made with large counts.
struct Envelope {
  MPI_Count integers = 0;
  MPI_Count addresses = 0;
  MPI_Count large_counts = 0;
  MPI_Count types = 0;
  int combiner = MPI_COMBINER_NAMED;
};

Envelope small_envelope_of(MPI_Datatype type) {
  int integers = 0;
  int addresses = 0;
  int types = 0;
  Envelope found;
  PMPI_Type_get_envelope(type, &integers, &addresses, &types, &found.combiner);
  found.integers = integers;
  found.addresses = addresses;
  found.types = types;
  return found;
}

Envelope envelope_of(MPI_Datatype type) {
#if TUTTI_MPI_HAS_LARGE_COUNTS
  if (tutti::detail::host_has_large_counts()) {
    Envelope found;
    PMPI_Type_get_envelope_c(type, &found.integers, &found.addresses, &found.large_counts, &found.types,
                             &found.combiner);
    return found;
  }
#endif
  return small_envelope_of(type);
}

bool is_named_by(int combiner) {
  return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL || combiner == MPI_COMBINER_F90_COMPLEX ||
         combiner == MPI_COMBINER_F90_INTEGER;
}

/// For arguments that the MPI writes; never empty, because some MPIs refuse a null address.
template <typename T>
std::vector<T> room_for(MPI_Count number) {
  return std::vector<T>(static_cast<std::size_t>(number) + 1);
}

template <typename T>
void append(std::vector<MPI_Count>& numbers, const std::vector<T>& arguments, MPI_Count number) {
  for (MPI_Count i = 0; i < number; ++i)
    numbers.push_back(static_cast<MPI_Count>(arguments[static_cast<std::size_t>(i)]));
}

}  // namespace

Construction::Construction(MPI_Datatype type) {
  const Envelope envelope = envelope_of(type);
  combiner_ = envelope.combiner;
  if (is_named()) return;
  std::vector<MPI_Aint> addresses = room_for<MPI_Aint>(envelope.addresses);
  std::vector<int> integers = room_for<int>(envelope.integers);
  parts_ = room_for<MPI_Datatype>(envelope.types);
  numbers_ = room_for<MPI_Count>(envelope.large_counts);
#if TUTTI_MPI_HAS_LARGE_COUNTS
  if (envelope.large_counts > 0)
    PMPI_Type_get_contents_c(type, envelope.integers, envelope.addresses, envelope.large_counts, envelope.types,
                             integers.data(), addresses.data(), numbers_.data(), parts_.data());
#endif
  if (envelope.large_counts == 0) {
    PMPI_Type_get_contents(type, static_cast<int>(envelope.integers), static_cast<int>(envelope.addresses),
                           static_cast<int>(envelope.types), integers.data(), addresses.data(), parts_.data());
  }
  numbers_.resize(static_cast<std::size_t>(envelope.large_counts));
  append(numbers_, integers, envelope.integers);
  append(numbers_, addresses, envelope.addresses);
  has_large_counts_ = envelope.large_counts > 0;
  parts_.resize(static_cast<std::size_t>(envelope.types));
}

Construction::~Construction() {
  for (MPI_Datatype& part : parts_)
    if (!is_named_by(envelope_of(part).combiner)) PMPI_Type_free(&part);
}

bool Construction::is_named() const { return is_named_by(combiner_); }

}  // namespace tutti::preload
