// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <tutti/embedding_collection.hpp>
#include <vector>

namespace tutti::detail {

/// A shard, and the place of its columns in the messages of its rank.
struct Piece {
  TableShard shard;
  bool replica = false;
  std::size_t vector_at = 0;    ///< its first column in the vectors that the rank sends; unused for a replica
  std::size_t gradient_at = 0;  ///< its first column in the gradients that the rank receives
};

/// Finds the pieces of every rank and of every table. A rank's pieces are in the order of the plan.
class PieceMap {
 public:
  struct Reference {
    int rank = 0;
    std::size_t index = 0;  ///< in of_rank(rank)
  };

  PieceMap(std::span<const EmbeddingTableConfig> tables, const ShardingPlan& plan);

  [[nodiscard]] int ranks() const { return static_cast<int>(pieces_.size()); }
  [[nodiscard]] std::size_t tables() const { return tables_.size(); }
  [[nodiscard]] const std::vector<Piece>& of_rank(int r) const { return pieces_[static_cast<std::size_t>(r)]; }
  /// The pieces of a table in the order of their rows, then columns.
  [[nodiscard]] const std::vector<Reference>& of_table(std::size_t t) const { return tables_[t].references; }
  [[nodiscard]] const Piece& piece(const Reference& at) const { return of_rank(at.rank)[at.index]; }
  [[nodiscard]] std::size_t vector_width(int r) const { return vector_widths_[static_cast<std::size_t>(r)]; }
  [[nodiscard]] std::size_t gradient_width(int r) const { return gradient_widths_[static_cast<std::size_t>(r)]; }

  [[nodiscard]] bool replicated(std::size_t t) const { return tables_[t].replicated; }
  [[nodiscard]] bool rows_divided(std::size_t t) const { return tables_[t].rows_divided; }
  [[nodiscard]] bool columns_divided(std::size_t t) const { return tables_[t].columns_divided; }
  /// Whether one piece is the whole table, so that its vectors can be read where they arrive.
  [[nodiscard]] bool whole(std::size_t t) const { return !replicated(t) && tables_[t].references.size() == 1; }
  [[nodiscard]] bool on_rank(std::size_t t, int r) const;

 private:
  struct TablePieces {
    std::vector<Reference> references;
    bool replicated = false;
    bool rows_divided = false;
    bool columns_divided = false;
  };
  std::vector<std::vector<Piece>> pieces_;
  std::vector<std::size_t> vector_widths_;
  std::vector<std::size_t> gradient_widths_;
  std::vector<TablePieces> tables_;
};

}  // namespace tutti::detail
