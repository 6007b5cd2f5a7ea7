// SPDX-License-Identifier: BSD-3-Clause
#include "training/embedding/row_changes.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace tutti::detail {

namespace {

template <typename Index>
void add_rows(RowBits& bits, const kernels::TableLookups& lookups, std::size_t bags) {
  const auto* indices = static_cast<const Index*>(lookups.indices);
  for (std::int64_t p = lookups.offsets[0]; p < lookups.offsets[bags]; ++p) {
    bits.add(static_cast<std::size_t>(indices[p]));
  }
}

}  // namespace

void RowBits::add(const RowBits& other) {
  for (std::size_t w = 0; w < words_.size(); ++w) words_[w] |= other.words_[w];
}

std::vector<std::uint32_t> RowBits::rows() const {
  std::size_t count = 0;
  for (const std::uint64_t word : words_) count += static_cast<std::size_t>(std::popcount(word));
  std::vector<std::uint32_t> rows;
  rows.reserve(count);
  for (std::size_t w = 0; w < words_.size(); ++w) {
    for (std::uint64_t left = words_[w]; left != 0; left &= left - 1) {
      rows.push_back(static_cast<std::uint32_t>(w * bits + static_cast<std::size_t>(std::countr_zero(left))));
    }
  }
  return rows;
}

RowChanges::RowChanges(std::vector<std::size_t> rows) : rows_(std::move(rows)) {
  for (const std::size_t count : rows_) changed_.emplace_back(count);
}

void RowChanges::note(std::size_t piece, const kernels::TableLookups& lookups, kernels::IndexType type,
                      std::size_t bags) {
  if (bags == 0) return;
  if (type == kernels::IndexType::int32) return add_rows<std::int32_t>(changed_[piece], lookups, bags);
  add_rows<std::int64_t>(changed_[piece], lookups, bags);
}

bool RowChanges::begin(checkpoint::Increment& save, const std::string& prefix) {
  const bool goes_on = save_ == &save;
  if (!goes_on) take_back();
  const bool knows_prefix = std::find(prefixes_.begin(), prefixes_.end(), prefix) != prefixes_.end();
  if (save.base != 0 && (save.base != base_ || !knows_prefix)) {
    save.is_refused = true;
    return false;
  }
  if (!goes_on) {
    hand_over(save.base != 0);
    save_ = &save;
    save.at_end.push_back([weak = weak_from_this(), key = &save](std::uint64_t identity) {
      if (const auto self = weak.lock()) self->end(key, identity);
    });
  }
  next_prefixes_.push_back(prefix);
  return true;
}

/// Changes nothing if there is no memory.
void RowChanges::hand_over(bool lists_rows) {
  std::vector<RowBits> unchanged(rows_.begin(), rows_.end());
  std::vector<std::shared_ptr<ChosenRows>> leaving;
  for (const RowBits& bits : changed_) {
    leaving.push_back(std::make_shared<ChosenRows>());
    if (lists_rows) leaving.back()->rows = bits.rows();
  }
  for (std::size_t i = 0; i < leaving.size(); ++i) leaving[i]->bits = std::move(changed_[i]);
  changed_ = std::move(unchanged);
  leaving_ = std::move(leaving);
}

void RowChanges::take_back() {
  for (std::size_t i = 0; i < leaving_.size(); ++i) changed_[i].add(leaving_[i]->bits);
  leaving_.clear();
  next_prefixes_.clear();
  save_ = nullptr;
}

void RowChanges::end(const checkpoint::Increment* save, std::uint64_t identity) {
  if (save_ != save) return;  // another save has begun
  if (identity == 0) return take_back();
  base_ = identity;
  prefixes_ = std::exchange(next_prefixes_, {});
  leaving_.clear();
  save_ = nullptr;
}

}  // namespace tutti::detail
