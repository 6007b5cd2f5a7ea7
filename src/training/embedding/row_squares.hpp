// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <tutti/communicator.hpp>
#include <vector>

#include "training/embedding/shard_tables.hpp"

namespace tutti::detail {

/// Adds, for each piece of the groups, the sums of squares of all pieces that have other columns of the same rows, in
/// the order of the columns, so that all of them get the same bits. Collective over `comm`, also for ranks without
/// groups; blocking. One alltoallv.
void add_row_squares(const Communicator& comm, const CollectionFacts& facts, std::span<PieceGroup> groups);

}  // namespace tutti::detail
