// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>

#include "watch/communicators.hpp"
#include "watch/description.hpp"

namespace tutti::preload {

/// Sends the description of a collective to the ranks with which it is compared. name: "MPI_Bcast". Returns the number
/// of the comparison.
std::uint64_t begin_comparison(MPI_Comm handle, const Watched& comm, std::uint32_t sequence, const std::string& name,
                               const std::string& place, const Description& description);

/// Compares the collectives whose descriptions have come. Returns the MPI's code of the first difference, which the
/// communicator's error handler has had.
[[nodiscard]] int compare();

/// Whether descriptions of collectives of this rank are still to come.
[[nodiscard]] bool compares();

/// compare() until the descriptions of one collective have come; blocking.
[[nodiscard]] int finish_comparison(std::uint64_t number);

/// Says which ranks have not made collectives that this rank has made. Once all records have come.
void report_comparisons();

}  // namespace tutti::preload
