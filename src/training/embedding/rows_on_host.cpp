// SPDX-License-Identifier: BSD-3-Clause
#include "training/embedding/rows_on_host.hpp"

#include <utility>

#include "collectives/services.hpp"

namespace tutti::detail {

RowsOnHost::RowsOnHost(const CollectionFacts& facts, const ShardTables& tables, std::size_t i, std::int64_t first_row,
                       std::int64_t rows, Content content)
    : facts_(&facts),
      tables_(&tables),
      piece_(i),
      first_row_(first_row),
      is_copy_(tables.on_device() || !tables.caches().empty()),
      table_(tables.table(i)),
      state_(tables.state(i)) {
  if (!is_copy_) return;
  const auto count = static_cast<std::size_t>(rows);
  weights_.resize(count * table_.row_stride * Datatype(table_.type).size());
  table_.rows = rows;
  table_.weights = weights_.data();
  table_.place = {};
  if (content == Content::rows_and_state) states_.resize(count * tables.state_width(i));
  state_ = states_.data();
  if (table_.scales == nullptr) return;
  scales_.resize(count);
  table_.scales = scales_.data();
}

RowArrays RowsOnHost::arrays() const {
  return {weights_.data(), scales_.empty() ? nullptr : reinterpret_cast<std::byte*>(scales_.data()),
          states_.empty() ? nullptr : reinterpret_cast<std::byte*>(states_.data())};
}

void RowsOnHost::read() const {
  if (tables_->on_device()) return copy_on_device(true);
  if (!is_copy_ || table_.rows == 0) return;
  const std::uint64_t first = tables_->cached(piece_).first_row + static_cast<std::uint64_t>(first_row_);
  tables_->cache(piece_).read(first, static_cast<std::size_t>(table_.rows), arrays());
}

void RowsOnHost::write() const {
  if (tables_->on_device()) return copy_on_device(false);
  if (!is_copy_ || table_.rows == 0) return;
  const std::uint64_t first = tables_->cached(piece_).first_row + static_cast<std::uint64_t>(first_row_);
  tables_->cache(piece_).write(first, static_cast<std::size_t>(table_.rows), arrays());
}

void RowsOnHost::copy_on_device(bool to_host) const {
  auto& runtime = device::required_runtime("rows on a device");
  const auto move = [&](void* host, void* on_device, std::size_t bytes) {
    if (bytes == 0) return;
    if (!to_host) std::swap(host, on_device);
    runtime.copy(host, on_device, bytes, facts_->stream());
  };
  const kernels::EmbeddingTable shard = tables_->table(piece_);
  const auto first = static_cast<std::size_t>(first_row_);
  const std::size_t row_bytes = shard.row_stride * Datatype(shard.type).size();
  move(weights_.data(), static_cast<std::byte*>(shard.weights) + first * row_bytes, weights_.size());
  if (shard.scales != nullptr) move(scales_.data(), shard.scales + first, scales_.size() * sizeof(kernels::RowScale));
  services::wait_for_stream(facts_->device, facts_->stream());
}

}  // namespace tutti::detail
