// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <tutti/communicator.hpp>
#include <vector>

#include "training/embedding/shard_tables.hpp"

namespace tutti::detail {

/// The sums of one piece of a sender, for one piece of a receiver.
struct SquareRoute {
  std::size_t receiver_piece;
  PieceMap::Reference sender;
};
/// Each pair of ranks exchanges sums in the order of the receiver's pieces, then of the senders' columns.
[[nodiscard]] std::vector<SquareRoute> square_routes(const CollectionFacts& facts, int receiver);

/// Replaces the sums of squares of each piece in the groups by the totals over all pieces with the same rows, added in
/// the order of their columns, so that all of them get the same bits. Collective over `comm`, also for ranks without
/// groups; blocking. Makes one alltoallv.
void add_row_squares(const Communicator& comm, const CollectionFacts& facts, const ShardTables& tables,
                     std::span<PieceGroup> groups);

}  // namespace tutti::detail
