// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "check/record_channel.hpp"
#include "watch/signature.hpp"

namespace tutti::preload {

/// A rank's collective or message, as it describes it to another rank. The sender of a collective is a rank of
/// MPI_COMM_WORLD, that of a message one of its communicator. Texts end with a zero.
struct Record : tutti::detail::check::RecordHead {
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

/// The records of all ranks of MPI_COMM_WORLD.
[[nodiscard]] tutti::detail::check::RecordChannel& channel();

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
