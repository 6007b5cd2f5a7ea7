// SPDX-License-Identifier: BSD-3-Clause
#include "training/embedding/sample_side.hpp"

#include <algorithm>

namespace tutti::detail {

SampleSide::SampleSide(const CollectionFacts& facts, VectorExchange& exchange)
    : facts_(&facts),
      exchange_(&exchange),
      staged_(facts.tables.size()),
      vectors_(facts.tables.size()),
      gradients_(facts.tables.size()) {
  const auto ranks = static_cast<std::size_t>(facts.ranks);
  const std::size_t slice = (facts.options.max_batch + ranks - 1) / ranks;
  for (std::size_t t = 0; t < staged_.size(); ++t) {
    if (!staged(t)) continue;
    staged_[t].vectors.resize(slice * facts.tables[t].dim);
    staged_[t].gradients.resize(slice * facts.tables[t].dim);
  }
}

void SampleSide::connect() {
  slice_ = facts_->slice(exchange_->batch()).size();
  for (std::size_t t = 0; t < staged_.size(); ++t) {
    const std::size_t dim = facts_->tables[t].dim;
    if (staged(t)) {
      vectors_[t] = {staged_[t].vectors.data(), dim};
      gradients_[t] = {staged_[t].gradients.data(), dim};
      continue;
    }
    const auto& at = facts_->map.of_table(t).front();
    const Piece& piece = facts_->map.piece(at);
    vectors_[t] = {exchange_->vectors_of(at.rank) + piece.vector_at, facts_->map.vector_width(at.rank)};
    gradients_[t] = {exchange_->gradients_for(at.rank) + piece.gradient_at, facts_->map.gradient_width(at.rank)};
  }
}

void SampleSide::assemble_table(std::size_t t, const std::vector<float>& counts) {
  const std::size_t dim = facts_->tables[t].dim;
  float* whole = staged_[t].vectors.data();
  for (const auto& at : facts_->map.of_table(t)) {
    const Piece& piece = facts_->map.piece(at);
    const std::size_t columns = piece.shard.columns();
    const std::size_t stride = facts_->map.vector_width(at.rank);
    const float* from = exchange_->vectors_of(at.rank) + piece.vector_at;
    float* to = whole + piece.shard.column_begin;
    // Pieces come by row: those of the first row are the first that their columns meet.
    const bool first = piece.shard.row_begin == 0;
    for (std::size_t s = 0; s < slice_; ++s, from += stride, to += dim) {
      if (first) {
        std::copy_n(from, columns, to);
      } else {
        for (std::size_t c = 0; c < columns; ++c) to[c] += from[c];
      }
    }
  }
  if (counts.empty()) return;
  for (std::size_t s = 0; s < slice_; ++s) {
    for (std::size_t c = 0; c < dim; ++c) whole[s * dim + c] /= counts[s];
  }
}

void SampleSide::assemble(const BatchBags& bags) {
  for (std::size_t t = 0; t < staged_.size(); ++t) {
    if (staged(t) && !facts_->map.replicated(t)) assemble_table(t, bags.counts(t));
  }
}

void SampleSide::distribute_table(std::size_t t, const std::vector<float>& counts) {
  const std::size_t dim = facts_->tables[t].dim;
  for (std::size_t s = 0; s < slice_ && !counts.empty(); ++s) {
    float* gradient = staged_[t].gradients.data() + s * dim;
    for (std::size_t c = 0; c < dim; ++c) gradient[c] /= counts[s];
  }
  for (const auto& at : facts_->map.of_table(t)) {
    const Piece& piece = facts_->map.piece(at);
    const std::size_t stride = facts_->map.gradient_width(at.rank);
    const float* from = staged_[t].gradients.data() + piece.shard.column_begin;
    float* to = exchange_->gradients_for(at.rank) + piece.gradient_at;
    for (std::size_t s = 0; s < slice_; ++s, from += dim, to += stride) std::copy_n(from, piece.shard.columns(), to);
  }
}

void SampleSide::distribute(const BatchBags& bags) {
  for (std::size_t t = 0; t < staged_.size(); ++t) {
    if (staged(t)) distribute_table(t, bags.counts(t));
  }
}

}  // namespace tutti::detail
