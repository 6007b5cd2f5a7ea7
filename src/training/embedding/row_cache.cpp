// SPDX-License-Identifier: BSD-3-Clause
#include "training/embedding/row_cache.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace tutti::detail {

namespace {

constexpr std::size_t page_bytes = 4096;
constexpr std::size_t block_bytes = std::size_t{1} << 20U;
constexpr std::size_t most_slots = std::size_t{1} << 30U;
constexpr std::uint64_t no_row = std::numeric_limits<std::uint64_t>::max();

// Marks of a slot.
constexpr std::uint8_t lives_mark = 3;
constexpr std::uint8_t changed_mark = 4;
constexpr std::uint8_t needed_mark = 8;

/// Calls visit(begin, end) for parts of an ascending list whose rows are at most `gap` apart, and fewer than `most`
/// rows from first to last.
template <typename List, typename Visit>
void for_each_run(const List& list, std::uint64_t gap, std::uint64_t most, const Visit& visit) {
  for (std::size_t begin = 0; begin < list.size();) {
    std::size_t end = begin + 1;
    while (end < list.size() && list[end].row - list[end - 1].row <= gap && list[end].row - list[begin].row < most)
      ++end;
    visit(begin, end);
    begin = end;
  }
}

void copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (to != nullptr && from != nullptr) std::memcpy(to, from, bytes);
}

template <typename Visit>
void visit_index(kernels::IndexType type, const Visit& visit) {
  type == kernels::IndexType::int32 ? visit(std::int32_t{}) : visit(std::int64_t{});
}

}  // namespace

std::size_t RowCache::slot_bytes(const RowShape& shape) {
  return shape.bytes() + sizeof(std::uint64_t) + sizeof(std::uint8_t) + RowIndex::bytes(2) / 2;
}

RowCache::RowCache(const RowShape& shape, std::uint64_t rows, std::size_t bytes, const std::filesystem::path& folder)
    : shape_(shape), file_(folder, rows * shape.bytes()) {
  const std::size_t fit = std::clamp<std::size_t>(bytes / slot_bytes(shape), 1, most_slots);
  reserve(static_cast<std::size_t>(std::min<std::uint64_t>(rows, fit)));
}

/// Keeps the rows that are in slots.
void RowCache::reserve(std::size_t slots) {
  const std::size_t scales_at = slots * shape_.value_bytes() / page_bytes * page_bytes + page_bytes;
  const std::size_t state_at = scales_at + slots * shape_.scale_bytes() / page_bytes * page_bytes + page_bytes;
  auto memory = kernels::allocate_table(state_at + slots * shape_.state_bytes());
  const RowArrays arrays{memory.get(), shape_.scale_bytes() > 0 ? memory.get() + scales_at : nullptr,
                         shape_.state_values > 0 ? memory.get() + state_at : nullptr};
  for (std::size_t slot = 0; slot < used_; ++slot) copy(in_slot(slot), at(arrays, slot));
  memory_ = std::move(memory);
  arrays_ = arrays;
  slots_ = slots;
  row_of_.resize(slots, no_row);
  marks_.resize(slots, 0);
  index_.reset(slots);
  for (std::size_t slot = 0; slot < used_; ++slot)
    if (row_of_[slot] != no_row) index_.insert(row_of_[slot], static_cast<std::uint32_t>(slot));
  table_ = {};
  table_.weights = arrays_.values;
  table_.type = shape_.type;
  table_.rows = static_cast<std::int64_t>(slots);
  table_.dim = table_.row_stride = shape_.columns;
  table_.scales = reinterpret_cast<kernels::RowScale*>(arrays_.scales);
  table_.place.cached_rows = row_of_.data();
}

RowArrays RowCache::at(const RowArrays& arrays, std::size_t row) const {
  const auto place = [row](std::byte* array, std::size_t bytes) {
    return array == nullptr ? nullptr : array + row * bytes;
  };
  return {place(arrays.values, shape_.value_bytes()), place(arrays.scales, shape_.scale_bytes()),
          place(arrays.state, shape_.state_bytes())};
}

RowArrays RowCache::in_record(std::size_t row) const {
  std::byte* record = records_.data() + row * shape_.bytes();
  return {record, record + shape_.value_bytes(), record + shape_.value_bytes() + shape_.scale_bytes()};
}

void RowCache::copy(const RowArrays& from, const RowArrays& to) const {
  copy_bytes(to.values, from.values, shape_.value_bytes());
  copy_bytes(to.scales, from.scales, shape_.scale_bytes());
  copy_bytes(to.state, from.state, shape_.state_bytes());
}

std::span<std::byte> RowCache::records(std::size_t rows) const {
  const std::size_t bytes = rows * shape_.bytes();
  if (records_.size() < bytes) records_.resize(bytes);
  return {records_.data(), bytes};
}

std::size_t RowCache::rows_of_block() const { return std::max<std::size_t>(1, block_bytes / shape_.bytes()); }

template <typename Index>
void RowCache::find(const Request& request) {
  const auto* indices = static_cast<const Index*>(request.indices);
  auto* slots = static_cast<Index*>(request.slots);
  for (std::size_t i = 0; i < request.count; ++i) {
    const std::uint64_t row = request.first_row + static_cast<std::uint64_t>(indices[i]);
    const std::uint32_t slot = index_.find(row, row_of_.data());
    if (slot == RowIndex::none) {
      misses_.push_back({row, slots + i});
      continue;
    }
    slots[i] = static_cast<Index>(slot);
    std::uint8_t& mark = marks_[slot];
    if ((mark & needed_mark) != 0) continue;
    mark = static_cast<std::uint8_t>((mark | needed_mark) + ((mark & lives_mark) < lives_mark ? 1 : 0));
    needed_.push_back(slot);
  }
}

std::uint32_t RowCache::take_slot() {
  if (used_ < slots_) return static_cast<std::uint32_t>(used_++);
  for (;; hand_ = hand_ + 1 == slots_ ? 0 : hand_ + 1) {
    std::uint8_t& mark = marks_[hand_];
    if ((mark & needed_mark) != 0) continue;
    if ((mark & lives_mark) == 0 || row_of_[hand_] == no_row) return static_cast<std::uint32_t>(hand_);
    --mark;
  }
}

/// Until all rows are written and read, a failure leaves every row where the index or the file has it.
void RowCache::bring_missing() {
  std::sort(misses_.begin(), misses_.end(), [](const Miss& a, const Miss& b) { return a.row < b.row; });
  for (const Miss& miss : misses_)
    if (coming_.empty() || coming_.back().row != miss.row) coming_.push_back({miss.row, 0});
  const std::size_t least = needed_.size() + coming_.size();
  if (least > slots_) reserve(least + least / 8);
  for (Resident& row : coming_) {
    row.slot = take_slot();
    marks_[row.slot] |= needed_mark;
    needed_.push_back(row.slot);
    if ((marks_[row.slot] & changed_mark) != 0) leaving_.push_back({row_of_[row.slot], row.slot});
  }
  std::sort(leaving_.begin(), leaving_.end(), [](const Resident& a, const Resident& b) { return a.row < b.row; });
  ask_for(coming_);
  ask_for(leaving_);  // a row that is written takes its page with it
  write_back();
  ++generation_;
  for (const Resident& row : coming_) {
    if (row_of_[row.slot] != no_row) index_.erase(row_of_[row.slot], row_of_.data());
    row_of_[row.slot] = no_row;
    marks_[row.slot] = needed_mark;
  }
  fetch();
}

template <typename Index>
void RowCache::place() {
  auto miss = misses_.begin();
  for (const Resident& row : coming_) {
    row_of_[row.slot] = row.row;
    index_.insert(row.row, row.slot);
    for (; miss != misses_.end() && miss->row == row.row; ++miss)
      *static_cast<Index*>(miss->slot) = static_cast<Index>(row.slot);
  }
}

void RowCache::release() {
  for (const std::uint32_t slot : needed_) marks_[slot] = static_cast<std::uint8_t>(marks_[slot] & ~needed_mark);
  needed_.clear();
  misses_.clear();
  coming_.clear();
  leaving_.clear();
}

void RowCache::bring(std::span<const Request> requests, kernels::IndexType type) {
  const std::lock_guard lock(mutex_);
  try {
    visit_index(type, [&](auto index) {
      using Index = decltype(index);
      for (const Request& request : requests) find<Index>(request);
      if (misses_.empty()) return;
      bring_missing();
      place<Index>();
    });
  } catch (...) {
    release();
    throw;
  }
  release();
}

void RowCache::note_change(std::span<const Request> requests, kernels::IndexType type) {
  const std::lock_guard lock(mutex_);
  visit_index(type, [&](auto index) {
    for (const Request& request : requests) {
      const auto* slots = static_cast<const decltype(index)*>(request.slots);
      for (std::size_t i = 0; i < request.count; ++i) marks_[static_cast<std::size_t>(slots[i])] |= changed_mark;
    }
  });
}

void RowCache::ask_for(const std::vector<Resident>& rows) const {
  const std::size_t bytes = shape_.bytes();
  for_each_run(rows, page_bytes / bytes + 1, rows_of_block(), [&](std::size_t begin, std::size_t end) {
    file_.ask(rows[begin].row * bytes, (rows[end - 1].row - rows[begin].row + 1) * bytes);
  });
}

/// Locks for few rows at a time, so that bring() seldom waits.
void RowCache::prefetch(std::span<const std::uint64_t> rows) const {
  constexpr std::size_t rows_of_lock = 1024;
  std::vector<std::uint64_t> sorted(rows.begin(), rows.end());
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  std::vector<Resident> missing;
  for (std::size_t begin = 0; begin < sorted.size(); begin += rows_of_lock) {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = begin; i < std::min(sorted.size(), begin + rows_of_lock); ++i)
      if (index_.find(sorted[i], row_of_.data()) == RowIndex::none) missing.push_back({sorted[i], RowIndex::none});
  }
  ask_for(missing);
}

void RowCache::write_back() {
  for_each_run(leaving_, 1, rows_of_block(), [&](std::size_t begin, std::size_t end) {
    const auto run = records(end - begin);
    for (std::size_t i = begin; i < end; ++i) copy(in_slot(leaving_[i].slot), in_record(i - begin));
    file_.write(leaving_[begin].row * shape_.bytes(), run);
  });
  for (const Resident& row : leaving_) marks_[row.slot] = static_cast<std::uint8_t>(marks_[row.slot] & ~changed_mark);
}

void RowCache::fetch() {
  for_each_run(coming_, page_bytes / shape_.bytes() + 1, rows_of_block(), [&](std::size_t begin, std::size_t end) {
    const std::uint64_t first = coming_[begin].row;
    file_.read(first * shape_.bytes(), records(static_cast<std::size_t>(coming_[end - 1].row - first) + 1));
    for (std::size_t i = begin; i < end; ++i)
      copy(in_record(static_cast<std::size_t>(coming_[i].row - first)), in_slot(coming_[i].slot));
  });
}

void RowCache::read(std::uint64_t first, std::size_t rows, const RowArrays& to) const {
  for (std::size_t begin = 0; begin < rows; begin += rows_of_block()) {
    const std::lock_guard lock(mutex_);
    const std::size_t end = std::min(rows, begin + rows_of_block());
    const auto slot_of = [&](std::size_t row) { return index_.find(first + row, row_of_.data()); };
    std::size_t missing = begin;  // the first row that is only in the file
    while (missing < end && slot_of(missing) != RowIndex::none) ++missing;
    if (missing < end) file_.read((first + begin) * shape_.bytes(), records(end - begin));
    for (std::size_t row = begin; row < end; ++row) {
      const std::uint32_t slot = slot_of(row);
      copy(slot == RowIndex::none ? in_record(row - begin) : in_slot(slot), at(to, row));
    }
  }
}

void RowCache::write(std::uint64_t first, std::size_t rows, const RowArrays& from) {
  const bool is_whole = from.values != nullptr && (from.scales != nullptr || shape_.scale_bytes() == 0) &&
                        (from.state != nullptr || shape_.state_values == 0);
  for (std::size_t begin = 0; begin < rows; begin += rows_of_block()) {
    const std::lock_guard lock(mutex_);
    const std::size_t end = std::min(rows, begin + rows_of_block());
    const std::uint64_t at_byte = (first + begin) * shape_.bytes();
    const auto block = records(end - begin);
    if (!is_whole) file_.read(at_byte, block);
    for (std::size_t row = begin; row < end; ++row) {
      const std::uint32_t slot = index_.find(first + row, row_of_.data());
      if (slot != RowIndex::none) {
        copy(at(from, row), in_slot(slot));
        marks_[slot] |= changed_mark;
      }
      copy(at(from, row), in_record(row - begin));
    }
    file_.write(at_byte, block);
  }
}

}  // namespace tutti::detail
