// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <span>
#include <tutti/kernels/embedding_bag.hpp>
#include <tutti/kernels/table_memory.hpp>
#include <vector>

#include "training/embedding/row_file.hpp"
#include "training/embedding/row_index.hpp"

namespace tutti::detail {

/// The values of a row, and of its optimizer's state.
struct RowShape {
  DatatypeKind type = DatatypeKind::float32;
  std::size_t columns = 0;
  std::size_t state_values = 0;

  [[nodiscard]] std::size_t value_bytes() const { return columns * Datatype(type).size(); }
  [[nodiscard]] std::size_t scale_bytes() const { return type == DatatypeKind::uint8 ? sizeof(kernels::RowScale) : 0; }
  [[nodiscard]] std::size_t state_bytes() const { return state_values * sizeof(float); }
  /// A row in a file: its values, its scale, its state.
  [[nodiscard]] std::size_t bytes() const { return value_bytes() + scale_bytes() + state_bytes(); }
  friend bool operator==(const RowShape&, const RowShape&) = default;
};

/// Arrays of rows: their values one after the other, their scales and their state. Null: none, or not asked for.
struct RowArrays {
  std::byte* values = nullptr;
  std::byte* scales = nullptr;
  std::byte* state = nullptr;
};

/// Rows of one shape in a file, of which memory has the hot ones, in slots that kernels address like the rows of a
/// table. The least recently used make room by the CLOCK algorithm (Corbato, A paging experiment with the Multics
/// system, 1969), where a row has as many lives as batches looked it up lately, up to three (Smith, Sequentiality and
/// prefetching in database systems, ACM TODS 3, 1978). A row that makes room is written if it has changed.
///
/// One thread uses the rows; prefetch() may also be called by others, and read() for rows that no kernel is
/// changing.
class RowCache {
 public:
  /// Rows that a batch refers to: indices of a part of the rows, which begins at first_row. Their slots are written to
  /// `slots`, as many numbers of the same type.
  struct Request {
    std::uint64_t first_row = 0;
    const void* indices = nullptr;
    void* slots = nullptr;
    std::size_t count = 0;
  };

  /// `rows` rows of zeros, with memory of `bytes` in all. Throws as RowFile, and out_of_memory.
  RowCache(const RowShape& shape, std::uint64_t rows, std::size_t bytes, const std::filesystem::path& folder);

  /// Memory that a row takes in a slot, with all that finds it.
  [[nodiscard]] static std::size_t slot_bytes(const RowShape& shape);

  /// Brings all requested rows into slots at once; they stay there until the next call. If they are more than the
  /// slots, memory grows to hold them. Throws Error: io, out_of_memory.
  void bring(std::span<const Request> requests, kernels::IndexType type);
  /// Says that kernels are about to change the rows in these slots, which the last bring() found or brought.
  void note_change(std::span<const Request> requests, kernels::IndexType type);
  /// Changes whenever a row may have come into another slot.
  [[nodiscard]] std::uint64_t generation() const { return generation_; }

  /// Asks the system for those of the rows that are not in slots, in any order and perhaps repeated, so that bring()
  /// finds them in the system's memory. Never waits for a disk. By any thread.
  void prefetch(std::span<const std::uint64_t> rows) const;

  /// Copies rows from memory and the file to those of the arrays that are not null.
  void read(std::uint64_t first, std::size_t rows, const RowArrays& to) const;
  /// Sets rows; what the arrays lack stays.
  void write(std::uint64_t first, std::size_t rows, const RowArrays& from);

  /// The slots as a table, whose place has its cached_rows. Valid until bring() grows the memory.
  [[nodiscard]] const kernels::EmbeddingTable& table() const { return table_; }
  [[nodiscard]] float* state() const { return reinterpret_cast<float*>(arrays_.state); }
  [[nodiscard]] std::size_t slots() const { return slots_; }
  [[nodiscard]] const RowShape& shape() const { return shape_; }

 private:
  struct Miss {
    std::uint64_t row;
    void* slot;  ///< where its number goes
  };
  struct Resident {
    std::uint64_t row;
    std::uint32_t slot;
  };
  void reserve(std::size_t slots);
  template <typename Index>
  void find(const Request& request);
  template <typename Index>
  void place();
  /// Takes slots for the rows that were not found, writes the rows that leave them, and reads the new ones. place()
  /// puts these into the index.
  void bring_missing();
  [[nodiscard]] std::uint32_t take_slot();
  void release();
  void ask_for(const std::vector<Resident>& rows) const;
  void write_back();
  void fetch();
  [[nodiscard]] RowArrays in_slot(std::size_t slot) const { return at(arrays_, slot); }
  [[nodiscard]] RowArrays at(const RowArrays& arrays, std::size_t row) const;
  [[nodiscard]] RowArrays in_record(std::size_t row) const;
  void copy(const RowArrays& from, const RowArrays& to) const;
  [[nodiscard]] std::span<std::byte> records(std::size_t rows) const;
  [[nodiscard]] std::size_t rows_of_block() const;

  RowShape shape_;
  std::uint64_t rows_;
  RowFile file_;
  mutable std::mutex mutex_;
  std::size_t slots_ = 0;
  std::size_t used_ = 0;  ///< slots that have had a row
  std::size_t hand_ = 0;  ///< of the clock
  kernels::TableMemory memory_;
  RowArrays arrays_;
  kernels::EmbeddingTable table_;
  std::vector<std::uint64_t> row_of_;  ///< of each slot; no_row: none
  std::vector<std::uint8_t> marks_;    ///< of each slot: lives, changed, needed
  RowIndex index_;
  std::uint64_t generation_ = 0;
  std::vector<Miss> misses_;
  std::vector<std::uint32_t> needed_;  ///< slots that this batch needs
  std::vector<Resident> coming_;       ///< rows that were not found, ascending, and the slots that they get
  std::vector<Resident> leaving_;      ///< changed rows, ascending, and the slots that they leave
  mutable std::vector<std::byte> records_;
};

}  // namespace tutti::detail
