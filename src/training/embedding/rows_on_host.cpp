// SPDX-License-Identifier: BSD-3-Clause
#include "training/embedding/rows_on_host.hpp"

#include <utility>

#include "collectives/services.hpp"

namespace tutti::detail {

RowsOnHost::RowsOnHost(const CollectionFacts& facts, const kernels::EmbeddingTable& shard, std::int64_t first_row,
                       std::int64_t rows)
    : facts_(&facts), shard_(&shard), first_row_(first_row), table_(shard) {
  if (!facts.on_device()) return;
  weights_.resize(static_cast<std::size_t>(rows) * shard.row_stride * Datatype(shard.type).size());
  table_.rows = rows;
  table_.weights = weights_.data();
  if (shard.scales == nullptr) return;
  scales_.resize(static_cast<std::size_t>(rows));
  table_.scales = scales_.data();
}

void RowsOnHost::copy(bool to_host) const {
  if (!facts_->on_device()) return;
  auto& runtime = device::required_runtime("rows on a device");
  const auto move = [&](void* host, void* on_device, std::size_t bytes) {
    if (bytes == 0) return;
    if (!to_host) std::swap(host, on_device);
    runtime.copy(host, on_device, bytes, facts_->stream());
  };
  const auto first = static_cast<std::size_t>(first_row_);
  const std::size_t row_bytes = shard_->row_stride * Datatype(shard_->type).size();
  move(weights_.data(), static_cast<std::byte*>(shard_->weights) + first * row_bytes, weights_.size());
  if (shard_->scales != nullptr)
    move(scales_.data(), shard_->scales + first, scales_.size() * sizeof(kernels::RowScale));
  services::wait_for_stream(facts_->device, facts_->stream());
}

}  // namespace tutti::detail
