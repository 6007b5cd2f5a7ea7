// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <tutti/error.hpp>
#include <tutti/kernels/embedding_bag.hpp>
#include <tutti/kernels/table_memory.hpp>
#include <utility>
#include <vector>

#include "training/embedding/row_changes.hpp"

namespace tutti::detail {

/// The rows and the state of a collection at one moment, for the thread that writes a checkpoint while training goes
/// on: an update first keeps a copy of each row that it changes and that was not read yet. So nothing is copied at that
/// moment, and memory grows with the rows that change until they are read.
class SavedRows {
 public:
  /// Copies rows of a grid that are not in memory.
  using CopyRows = std::function<void(std::size_t first, std::size_t rows, std::byte* to)>;
  /// Memory of a piece with `row_bytes` for each row. Read in the order of the grids.
  struct Grid {
    const std::byte* data = nullptr;  ///< null: copy_rows is set
    std::size_t row_bytes = 0;
    CopyRows copy_rows{};
  };
  /// Adds the next piece, or only those of its rows that are chosen, if that is not null. No grids: nothing of it is
  /// saved.
  void add_piece(std::size_t rows, const std::vector<Grid>& grids, std::shared_ptr<const ChosenRows> chosen);
  /// Keeps the memory of the grids until the end.
  void hold(std::shared_ptr<const void> memory) { memory_ = std::move(memory); }

  /// Keeps the rows that the lookups of a batch refer to. To be called before they are updated. If there is no memory
  /// left, read() fails instead.
  void keep(std::size_t piece, const kernels::TableLookups& lookups, kernels::IndexType type, std::size_t bags);
  /// Copies bytes of a grid, of its saved rows, from `offset` on as they were. Each byte of a grid once, in ascending
  /// order; by any one thread. Throws tutti::Error: invalid_argument after end(); out_of_memory if keep() had none.
  void read(std::size_t piece, std::size_t grid, std::uint64_t offset, std::span<std::byte> out);
  /// From here on the rows are not what they were, for the named reason, unless all were read.
  void end(const std::string& reason);

 private:
  struct PieceGrid {
    Grid live;
    std::size_t kept_at = 0;  ///< of its bytes in a kept row
    std::uint64_t read = 0;   ///< so many bytes were read
  };
  /// Bytes that lie one after the other.
  struct Run {
    const std::byte* kept;  ///< null: where the rows are
    std::uint64_t live_at;  ///< there, counted in the grid
    std::size_t bytes;
  };
  struct Piece {
    std::size_t rows = 0;                        ///< of the piece
    std::size_t saved = 0;                       ///< number of them that are saved
    std::shared_ptr<const ChosenRows> chosen{};  ///< null: all rows
    std::vector<PieceGrid> grids;
    std::size_t row_bytes = 0;  ///< of all grids
    kernels::TableMemory kept;  ///< uint32 by row: its number among the kept rows, from 1; 0: not kept
    std::size_t kept_rows = 0;
    std::vector<std::unique_ptr<std::byte[]>> blocks{};  ///< of kept rows
    [[nodiscard]] std::uint32_t& number_of(std::size_t row) const;
    [[nodiscard]] std::byte* kept_row(std::size_t number) const;
    /// Saved row i, counted in the piece.
    [[nodiscard]] std::size_t saved_row(std::size_t i) const { return chosen ? chosen->rows[i] : i; }
    [[nodiscard]] bool is_kept(std::size_t row) const { return kept_rows > 0 && number_of(row) != 0; }
    /// Number of saved rows that the last grid has read.
    [[nodiscard]] std::size_t rows_read() const;
    [[nodiscard]] Run run_at(const PieceGrid& grid, std::uint64_t at, std::uint64_t end) const;
    void release();
  };
  template <typename Index>
  static void keep_rows(Piece& piece, std::span<const Index> rows);
  static void keep_row(Piece& piece, std::size_t row);
  static void copy_live(const Grid& grid, std::uint64_t at, std::span<std::byte> out);

  std::mutex mutex_;
  std::vector<Piece> pieces_;
  std::optional<Error> ended_;
  std::shared_ptr<const void> memory_;
};

}  // namespace tutti::detail
