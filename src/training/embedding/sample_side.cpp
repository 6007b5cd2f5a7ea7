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
    staged_[t].vectors.resize(slice * facts.tables[t].dim, facts.options.memory);
    staged_[t].gradients.resize(slice * facts.tables[t].dim, facts.options.memory);
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

void SampleSide::assemble_table(std::size_t t, const float* counts) {
  const std::size_t dim = facts_->tables[t].dim;
  float* whole = staged_[t].vectors.data();
  for (const auto& at : facts_->map.of_table(t)) {
    const Piece& piece = facts_->map.piece(at);
    const kernels::SampleRows from{exchange_->vectors_of(at.rank) + piece.vector_at, facts_->map.vector_width(at.rank)};
    const kernels::SampleRows to{whole + piece.shard.column_begin, dim};
    // Pieces come in the order of their rows, so the one with row 0 is the first of its columns.
    if (piece.shard.row_begin == 0) {
      kernels::copy_rows(from, to, slice_, piece.shard.columns(), order());
    } else {
      kernels::add_rows(from, to, slice_, piece.shard.columns(), order());
    }
  }
  if (counts != nullptr) kernels::divide_rows({whole, dim}, slice_, dim, counts, order());
}

void SampleSide::assemble(const CountsOf& counts) {
  for (std::size_t t = 0; t < staged_.size(); ++t) {
    if (staged(t) && !facts_->map.replicated(t)) assemble_table(t, counts(t));
  }
}

void SampleSide::distribute_table(std::size_t t, const float* counts) {
  const std::size_t dim = facts_->tables[t].dim;
  float* whole = staged_[t].gradients.data();
  if (counts != nullptr) kernels::divide_rows({whole, dim}, slice_, dim, counts, order());
  for (const auto& at : facts_->map.of_table(t)) {
    const Piece& piece = facts_->map.piece(at);
    kernels::copy_rows({whole + piece.shard.column_begin, dim},
                       {exchange_->gradients_for(at.rank) + piece.gradient_at, facts_->map.gradient_width(at.rank)},
                       slice_, piece.shard.columns(), order());
  }
}

void SampleSide::distribute(const CountsOf& counts) {
  for (std::size_t t = 0; t < staged_.size(); ++t) {
    if (staged(t)) distribute_table(t, counts(t));
  }
}

}  // namespace tutti::detail
