// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <iterator>
#include <vector>

namespace tutti::schedules {

using Ranks = std::vector<int>;

/// A group of ranks in order: every `stride`-th rank from the first on, with at most one other in its place, or a table
/// that somebody else keeps.
class RankList {
 public:
  RankList(int first, int stride, int size) : first_(first), stride_(stride), size_(size) {}
  RankList(const Ranks& table) : table_(table.data()), size_(static_cast<int>(table.size())) {}
  RankList(Ranks&&) = delete;

  /// The same with another rank at a place.
  [[nodiscard]] RankList with(int place, int rank) const {
    RankList list = *this;
    list.replaced_ = place;
    list.replacement_ = rank;
    return list;
  }

  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(size_); }
  [[nodiscard]] int operator[](std::size_t place) const {
    const auto i = static_cast<int>(place);
    if (i == replaced_) return replacement_;
    return table_ != nullptr ? table_[place] : first_ + i * stride_;
  }
  [[nodiscard]] int back() const { return (*this)[size() - 1]; }

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = int;
    using difference_type = std::ptrdiff_t;
    using pointer = const int*;
    using reference = int;
    Iterator(const RankList& list, std::size_t place) : list_(&list), place_(place) {}
    [[nodiscard]] int operator*() const { return (*list_)[place_]; }
    Iterator& operator++() {
      ++place_;
      return *this;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.place_ == b.place_; }

   private:
    const RankList* list_;
    std::size_t place_;
  };
  [[nodiscard]] Iterator begin() const { return {*this, 0}; }
  [[nodiscard]] Iterator end() const { return {*this, size()}; }

 private:
  const int* table_ = nullptr;
  int first_ = 0;
  int stride_ = 1;
  int size_ = 0;
  int replaced_ = -1;
  int replacement_ = 0;
};

}  // namespace tutti::schedules
