// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "watch/signature.hpp"

namespace tutti::preload {

/// A rank's collective or message, as it describes it to another rank. Texts end with a zero.
struct Letter {
  std::uint64_t mark = 0;         ///< of the communicator
  std::uint32_t sequence = 0;     ///< of a collective; 0: a message
  std::int32_t sender = 0;        ///< of a collective: in MPI_COMM_WORLD; of a message: in its communicator
  std::int32_t tag = 0;           ///< of a message
  std::int32_t is_withdrawn = 0;  ///< 1: a message of the sender on this communicator is cancelled
  std::int32_t root = -1;
  std::int32_t gives = 0;    ///< 1: `given` counts
  std::int32_t expects = 0;  ///< 1: `expected` counts
  Signature all{};           ///< equal on all ranks
  Signature given{};         ///< what the sender gives the receiver
  Signature expected{};      ///< what it expects of it
  std::array<char, 40> name{};
  std::array<char, 40> type{};
  std::array<char, 16> op{};
  std::array<char, 120> place{};
};

template <std::size_t n>
void put(std::array<char, n>& to, std::string_view text) {
  to = {};
  std::memcpy(to.data(), text.data(), std::min(text.size(), n - 1));
}

/// As texts name a datatype; empty for MPI_DATATYPE_NULL.
inline std::string type_name(MPI_Datatype type) {
  if (type == MPI_DATATYPE_NULL) return "";
  std::array<char, MPI_MAX_OBJECT_NAME> name{};
  int length = 0;
  PMPI_Type_get_name(type, name.data(), &length);
  return length == 0 ? "a derived type" : name.data();
}

}  // namespace tutti::preload
