// SPDX-License-Identifier: BSD-3-Clause
#include "operation/shape.hpp"

#include <algorithm>
#include <numeric>
#include <span>

namespace tutti::detail {
namespace {

std::size_t end_of(std::span<const std::size_t> counts, std::span<const std::size_t> displs) {
  std::size_t end = 0;
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (counts[i] > 0) end = std::max(end, displs[i] + counts[i]);
  return end;
}

}  // namespace

Block Shape::part(int to) const {
  const auto index = static_cast<std::size_t>(to);
  if (row().given == BlockKind::each) return {index * signature_->count, signature_->count};
  if (row().given != BlockKind::counted) return {0, signature_->count};
  const auto& counts = binding_->recv_counts;
  return {std::accumulate(counts.begin(), counts.begin() + to, std::size_t{0}), counts[index]};
}

std::size_t Shape::largest_given() const {
  std::size_t largest = 0;
  for (int to = 0; to < size_; ++to)
    if (flows(rank_, to)) largest = std::max(largest, given(to).count);
  return largest;
}

std::size_t Shape::input_end() const {
  if (!has_input(operation(), is_root())) return 0;
  switch (row().given) {
    case BlockKind::each:
      return all();
    case BlockKind::own:
      return binding_->send_count;
    case BlockKind::counted:
      if (!tutti::combines(operation())) return end_of(binding_->send_counts, binding_->send_displs);
      return std::accumulate(binding_->recv_counts.begin(), binding_->recv_counts.end(), std::size_t{0});
    default:
      return signature_->count;
  }
}

std::size_t Shape::output_end() const {
  if (!has_output(operation(), is_root())) return 0;
  // The output of a reduce_scatter in place is also its input.
  if (binding_->in_place && tutti::combines(operation())) return input_end();
  switch (row().taken) {
    case BlockKind::each:
      return all();
    case BlockKind::own:
      return tutti::combines(operation()) ? result_count() : binding_->recv_count;
    case BlockKind::counted:
      return end_of(binding_->recv_counts, binding_->recv_displs);
    default:
      return signature_->count;
  }
}

}  // namespace tutti::detail
