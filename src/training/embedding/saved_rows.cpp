// SPDX-License-Identifier: BSD-3-Clause
#include "training/embedding/saved_rows.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace tutti::detail {

namespace {

constexpr std::size_t rows_of_block = 1024;

}  // namespace

std::uint32_t& SavedRows::Piece::number_of(std::size_t row) const {
  return reinterpret_cast<std::uint32_t*>(kept.get())[row];
}

std::byte* SavedRows::Piece::kept_row(std::size_t number) const {
  return blocks[number / rows_of_block].get() + number % rows_of_block * row_bytes;
}

std::size_t SavedRows::Piece::rows_read() const {
  return static_cast<std::size_t>(grids.back().read) / grids.back().live.row_bytes;
}

/// The rows that an update may be changing now have been kept: only the others are read where they are.
SavedRows::Run SavedRows::Piece::run_at(const PieceGrid& grid, std::uint64_t at, std::uint64_t end) const {
  const std::size_t bytes = grid.live.row_bytes;
  if (kept_rows == 0 && !chosen) return {nullptr, at, static_cast<std::size_t>(end - at)};
  auto i = static_cast<std::size_t>(at / bytes);
  const std::size_t row = saved_row(i);
  const std::size_t inside = static_cast<std::size_t>(at % bytes);
  if (is_kept(row)) {
    const std::byte* data = kept_row(number_of(row) - 1) + grid.kept_at + inside;
    return {data, 0, std::min(bytes - inside, static_cast<std::size_t>(end - at))};
  }
  const auto saved_end = static_cast<std::size_t>((end + bytes - 1) / bytes);
  for (std::size_t next = row; i < saved_end && saved_row(i) == next && !is_kept(next); ++next) ++i;
  return {nullptr, row * bytes + inside, static_cast<std::size_t>(std::min<std::uint64_t>(end, i * bytes) - at)};
}

void SavedRows::Piece::release() {
  kept.reset();
  kept_rows = 0;
  blocks.clear();
}

void SavedRows::add_piece(std::size_t rows, const std::vector<Grid>& grids, std::shared_ptr<const ChosenRows> chosen) {
  Piece& piece = pieces_.emplace_back();
  piece.rows = rows;
  piece.saved = chosen ? chosen->rows.size() : rows;
  piece.chosen = std::move(chosen);
  for (const Grid& grid : grids) {
    piece.grids.push_back({grid, piece.row_bytes, 0});
    piece.row_bytes += grid.row_bytes;
  }
}

void SavedRows::copy_live(const Grid& grid, std::uint64_t at, std::span<std::byte> out) {
  if (grid.data != nullptr) {
    std::memcpy(out.data(), grid.data + at, out.size());
    return;
  }
  const auto first = static_cast<std::size_t>(at / grid.row_bytes);
  const auto inside = static_cast<std::size_t>(at % grid.row_bytes);
  const std::size_t rows = (inside + out.size() + grid.row_bytes - 1) / grid.row_bytes;
  if (rows * grid.row_bytes == out.size()) return grid.copy_rows(first, rows, out.data());
  std::vector<std::byte> whole(rows * grid.row_bytes);
  grid.copy_rows(first, rows, whole.data());
  std::memcpy(out.data(), whole.data() + inside, out.size());
}

void SavedRows::keep_row(Piece& piece, std::size_t row) {
  if (piece.kept_rows % rows_of_block == 0) {
    piece.blocks.push_back(std::make_unique_for_overwrite<std::byte[]>(rows_of_block * piece.row_bytes));
  }
  std::byte* to = piece.kept_row(piece.kept_rows);
  for (const PieceGrid& grid : piece.grids) {
    copy_live(grid.live, row * grid.live.row_bytes, {to + grid.kept_at, grid.live.row_bytes});
  }
  piece.number_of(row) = static_cast<std::uint32_t>(++piece.kept_rows);
}

template <typename Index>
void SavedRows::keep_rows(Piece& piece, std::span<const Index> rows) {
  const std::size_t read = piece.rows_read();
  if (read == piece.saved) return;
  const std::size_t first = piece.saved_row(read);
  // The system zeroes its pages when they are used: a pass over all rows would be a stop.
  if (!piece.kept) piece.kept = kernels::allocate_table(piece.rows * sizeof(std::uint32_t));
  for (const Index index : rows) {
    const auto row = static_cast<std::size_t>(index);
    const bool is_unread = row >= first && (!piece.chosen || piece.chosen->bits.has(row));
    if (is_unread && piece.number_of(row) == 0) keep_row(piece, row);
  }
}

void SavedRows::keep(std::size_t i, const kernels::TableLookups& lookups, kernels::IndexType type, std::size_t bags) {
  const std::lock_guard lock(mutex_);
  Piece& piece = pieces_[i];
  if (ended_ || piece.grids.empty() || bags == 0) return;
  const auto first = static_cast<std::size_t>(lookups.offsets[0]);
  const std::size_t count = static_cast<std::size_t>(lookups.offsets[bags]) - first;
  try {
    if (type == kernels::IndexType::int32) {
      keep_rows(piece, std::span(static_cast<const std::int32_t*>(lookups.indices) + first, count));
    } else {
      keep_rows(piece, std::span(static_cast<const std::int64_t*>(lookups.indices) + first, count));
    }
  } catch (const Error& error) {
    ended_ = error;
  } catch (const std::exception&) {
    ended_ = Error(ErrorCode::out_of_memory,
                   "checkpoint: no memory for rows that changed before they were saved; save while nothing trains");
  }
}

void SavedRows::read(std::size_t i, std::size_t grid, std::uint64_t offset, std::span<std::byte> out) {
  const std::lock_guard lock(mutex_);
  if (ended_) throw *ended_;
  Piece& piece = pieces_[i];
  PieceGrid& from = piece.grids[grid];
  const std::uint64_t end = offset + out.size();
  for (std::uint64_t at = offset; at < end;) {
    const Run run = piece.run_at(from, at, end);
    const auto to = out.subspan(static_cast<std::size_t>(at - offset), run.bytes);
    if (run.kept != nullptr)
      std::memcpy(to.data(), run.kept, run.bytes);
    else
      copy_live(from.live, run.live_at, to);
    at += run.bytes;
  }
  from.read = end;
  if (grid + 1 == piece.grids.size() && piece.rows_read() == piece.saved) piece.release();
}

void SavedRows::end(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  if (!ended_) ended_ = Error(ErrorCode::invalid_argument, "checkpoint: the embedding collection " + reason);
}

}  // namespace tutti::detail
