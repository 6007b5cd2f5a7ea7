// SPDX-License-Identifier: BSD-3-Clause
#include "training/embedding/row_squares.hpp"

#include <algorithm>
#include <numeric>
#include <tutti/collectives/alltoallv.hpp>

namespace tutti::detail {

namespace {

/// All pieces with the same rows of the same table, in the order of their columns.
std::vector<PieceMap::Reference> peers_of(const PieceMap& map, const Piece& piece) {
  std::vector<PieceMap::Reference> peers;
  for (const auto& at : map.of_table(piece.shard.table)) {
    if (map.piece(at).shard.table_rows() == piece.shard.table_rows()) peers.push_back(at);
  }
  return peers;
}

}  // namespace

std::vector<SquareRoute> square_routes(const CollectionFacts& facts, int receiver) {
  std::vector<SquareRoute> routes;
  const auto& pieces = facts.map.of_rank(receiver);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].replica || !facts.map.columns_divided(pieces[i].shard.table)) continue;
    for (const auto& peer : peers_of(facts.map, pieces[i])) routes.push_back({i, peer});
  }
  return routes;
}

namespace {

void exchange_squares(const Communicator& comm, const CollectionFacts& facts, std::span<PieceGroup> groups) {
  const auto ranks = static_cast<std::size_t>(facts.ranks);
  std::vector<std::vector<double>*> sums_of_piece(facts.pieces().size(), nullptr);
  for (PieceGroup& group : groups) {
    for (std::size_t k = 0; k < group.pieces().size(); ++k) sums_of_piece[group.pieces()[k]] = &group.squares()[k].sums;
  }
  const auto sums_of = [&](std::size_t i) -> std::vector<double>& { return *sums_of_piece[i]; };

  std::vector<double> sent;
  std::vector<std::size_t> sent_counts(ranks, 0);
  std::vector<std::size_t> sent_begins(ranks, 0);
  for (std::size_t r = 0; r < ranks; ++r) {
    sent_begins[r] = sent.size();
    for (const SquareRoute& route : square_routes(facts, static_cast<int>(r))) {
      if (route.sender.rank != facts.rank) continue;
      const auto& sums = sums_of(route.sender.index);
      sent.insert(sent.end(), sums.begin(), sums.end());
    }
    sent_counts[r] = sent.size() - sent_begins[r];
  }

  // Pieces with the same rows see the same lookups, so their sums are equally many.
  const auto routes = square_routes(facts, facts.rank);
  std::vector<std::size_t> counts(ranks, 0);
  for (const SquareRoute& route : routes)
    counts[static_cast<std::size_t>(route.sender.rank)] += sums_of(route.receiver_piece).size();
  std::vector<std::size_t> begins(ranks, 0);
  for (std::size_t r = 1; r < ranks; ++r) begins[r] = begins[r - 1] + counts[r - 1];
  std::vector<double> arrived(begins.back() + counts.back());
  alltoallv(comm, sent, sent_counts, sent_begins, arrived, counts, begins, {.memory = MemoryKind::host});

  for (auto* sums : sums_of_piece) {
    if (sums != nullptr) std::fill(sums->begin(), sums->end(), 0.0);
  }
  for (const SquareRoute& route : routes) {
    auto& sums = sums_of(route.receiver_piece);
    std::size_t& at = begins[static_cast<std::size_t>(route.sender.rank)];
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += arrived[at + k];
    at += sums.size();
  }
}

/// The places of the sums of cached rows, in the order of the rows instead of their slots.
std::vector<std::size_t> places_by_row(const kernels::RowSquares& squares, const std::uint64_t* row_of) {
  std::vector<std::size_t> places(squares.rows.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::sort(places.begin(), places.end(),
            [&](std::size_t a, std::size_t b) { return row_of[squares.rows[a]] < row_of[squares.rows[b]]; });
  return places;
}

}  // namespace

/// Ranks have a table's rows in different slots, so the sums travel in the order of the rows.
void add_row_squares(const Communicator& comm, const CollectionFacts& facts, const ShardTables& tables,
                     std::span<PieceGroup> groups) {
  if (tables.caches().empty()) return exchange_squares(comm, facts, groups);
  std::vector<std::vector<std::size_t>> places;
  for (PieceGroup& group : groups) {
    for (std::size_t k = 0; k < group.pieces().size(); ++k) {
      kernels::RowSquares& squares = group.squares()[k];
      places.push_back(places_by_row(squares, tables.table(group.pieces()[k]).place.cached_rows));
      const std::vector<double> sums = squares.sums;
      for (std::size_t j = 0; j < sums.size(); ++j) squares.sums[j] = sums[places.back()[j]];
    }
  }
  exchange_squares(comm, facts, groups);
  auto place = places.begin();
  for (PieceGroup& group : groups) {
    for (kernels::RowSquares& squares : group.squares()) {
      const std::vector<double> sums = squares.sums;
      for (std::size_t j = 0; j < sums.size(); ++j) squares.sums[(*place)[j]] = sums[j];
      ++place;
    }
  }
}

}  // namespace tutti::detail
