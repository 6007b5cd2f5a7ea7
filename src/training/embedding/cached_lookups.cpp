// SPDX-License-Identifier: BSD-3-Clause
#include "training/embedding/cached_lookups.hpp"

namespace tutti::detail {

CachedLookups::CachedLookups(const CollectionFacts& facts, ShardTables& tables)
    : facts_(&facts),
      tables_(&tables),
      all_(facts.pieces().size()),
      own_(facts.pieces().size()),
      requests_(tables.caches().size()) {}

void CachedLookups::begin(const BatchLookups& lookups) {
  type_ = lookups.type();
  for (auto& requests : requests_) requests.clear();
}

/// Offsets and weights begin where the indices do.
void CachedLookups::add(Piece& piece, std::size_t i, const kernels::TableLookups& from, std::size_t bags) {
  const std::int64_t first = from.offsets[0];
  const auto count = static_cast<std::size_t>(from.offsets[bags] - first);
  const std::size_t width = index_bytes(type_);
  if (piece.slots.size() < count * width) piece.slots.resize(count * width);
  piece.offsets.resize(bags + 1);
  for (std::size_t b = 0; b <= bags; ++b) piece.offsets[b] = from.offsets[b] - first;
  piece.lookups = {piece.slots.data(), piece.offsets.data(), from.weights != nullptr ? from.weights + first : nullptr};
  const ShardTables::CachedPiece& at = tables_->cached(i);
  requests_[at.cache].push_back({at.first_row,
                                 static_cast<const std::byte*>(from.indices) + static_cast<std::size_t>(first) * width,
                                 piece.slots.data(), count});
}

void CachedLookups::bring() {
  for (std::size_t c = 0; c < requests_.size(); ++c) tables_->caches()[c]->bring(requests_[c], type_);
}

void CachedLookups::bring_for_forward(const BatchLookups& lookups, std::size_t batch) {
  const std::size_t own = facts_->slice(batch).size();
  begin(lookups);
  has_all_ = true;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const bool reads_own = facts_->pieces()[i].replica;
    has_all_ = has_all_ && !reads_own;
    if (!reads_own && batch > 0) add(all_[i], i, lookups.all(i), batch);
    if (reads_own && own > 0) add(own_[i], i, lookups.own(i), own);
  }
  bring();
  generation_ = tables_->generation();
}

void CachedLookups::bring_for_update(const BatchLookups& lookups, std::size_t batch) {
  if (!has_all_ || generation_ != tables_->generation()) {
    begin(lookups);
    for (std::size_t i = 0; i < all_.size(); ++i) add(all_[i], i, lookups.all(i), batch);
    bring();
  }
  for (std::size_t c = 0; c < requests_.size(); ++c) tables_->caches()[c]->note_change(requests_[c], type_);
}

}  // namespace tutti::detail
