// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/counter_random.hpp"

namespace tutti::miniapps {

/// The hash of an id: by it ids are dealt to ranks and to the places of a table.
[[nodiscard]] constexpr std::uint32_t id_hash(std::uint32_t id) {
  return static_cast<std::uint32_t>(mix_counter(id) >> 32U);
}

/// An id, how often it occurred, and what its user keeps beside it.
struct IdEntry {
  std::uint32_t id = 0;
  std::uint32_t count = 0;  ///< 0: a free place
  std::uint32_t value = 0;
};

/// Ids of 32 bits by open addressing, in places that ascend with the hash. `dense` takes 14 to 17 bytes an id, else up
/// to 48 for fewer steps. Source: Knuth, The Art of Computer Programming 3, algorithm L (linear probing).
class IdTable {
 public:
  /// `ranks`: a table has the ids of one rank of so many.
  explicit IdTable(bool dense = false, std::uint32_t ranks = 1) : dense_(dense), ranks_(ranks), entries_(smallest) {}

  /// The entry of an id, count 0 where it is new: the caller must count it up before the next call. The reference holds
  /// until then.
  IdEntry& find_or_add(std::uint32_t id) {
    IdEntry* entry = find(id);
    if (entry->count == 0) {
      if (full()) {
        grow();
        entry = find(id);
      }
      *entry = {id, 0, 0};
      ++size_;
    }
    return *entry;
  }
  /// The entry of an id, or a free one.
  [[nodiscard]] const IdEntry& at(std::uint32_t id) const { return *const_cast<IdTable*>(this)->find(id); }
  void prefetch(std::uint32_t id) const { __builtin_prefetch(&entries_[place(id)]); }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t bytes() const { return entries_.size() * sizeof(IdEntry); }
  /// All places, free ones too.
  [[nodiscard]] std::vector<IdEntry>& entries() { return entries_; }
  [[nodiscard]] const std::vector<IdEntry>& entries() const { return entries_; }

  /// Room for so many ids, of which none is to grow the table.
  void reserve(std::size_t ids) {
    const std::size_t places = dense_ ? (ids + 7) / 7 * 8 : 2 * ids;
    if (places > entries_.size()) {
      resize(places);
    }
  }

  void clear() {
    std::fill(entries_.begin(), entries_.end(), IdEntry{});
    size_ = 0;
  }

 private:
  static constexpr std::size_t smallest = 64;

  [[nodiscard]] bool full() const { return dense_ ? size_ >= entries_.size() / 8 * 7 : size_ >= entries_.size() / 2; }
  [[nodiscard]] std::size_t place(std::uint32_t id) const {
    const std::uint32_t of_rank = id_hash(id) * ranks_;
    return static_cast<std::size_t>((std::uint64_t{of_rank} * entries_.size()) >> 32U);
  }
  [[nodiscard]] std::size_t after(std::size_t i) const { return i + 1 == entries_.size() ? 0 : i + 1; }
  IdEntry* find(std::uint32_t id) {
    std::size_t i = place(id);
    while (entries_[i].count != 0 && entries_[i].id != id) {
      i = after(i);
    }
    return &entries_[i];
  }
  void grow() { resize(entries_.size() + (dense_ ? entries_.size() / 4 : entries_.size())); }
  void resize(std::size_t places) {
    std::vector<IdEntry> before(places);
    before.swap(entries_);
    for (const IdEntry& entry : before) {  // all different
      if (entry.count != 0) {
        std::size_t i = place(entry.id);
        while (entries_[i].count != 0) {
          i = after(i);
        }
        entries_[i] = entry;
      }
    }
  }

  bool dense_;
  std::uint32_t ranks_;
  std::vector<IdEntry> entries_;
  std::size_t size_ = 0;
};

}  // namespace tutti::miniapps
