// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "training/kernels/device/row_pack.hpp"
#include "training/kernels/device/update_rows.hpp"

/// Sums of the gradients of a row's occurrences, some columns at a time.
namespace tutti::kernels::device {

TUTTI_FUNCTION bool has_row(const TableJob& job, std::uint32_t key) {
  return key >= job.first_key && key - job.first_key < static_cast<std::uint64_t>(job.table.rows);
}

/// The table of the group that has the row; null if another group has it. Jobs ascend in first_key.
TUTTI_FUNCTION const TableJob* find_table(const UpdateJob& update, std::uint32_t key) {
  std::size_t low = 0;
  std::size_t high = update.tables;
  while (high - low > 1) {
    const std::size_t middle = (low + high) / 2;
    (update.jobs[middle].first_key <= key ? low : high) = middle;
  }
  const TableJob& job = update.jobs[low];
  return has_row(job, key) ? &job : nullptr;
}

/// An occurrence: the bag whose gradient it gets, the factor, and its position among the indices of its table.
struct Occurrence {
  std::uint32_t bag;
  float factor;
  std::uint32_t position;
};

TUTTI_FUNCTION Occurrence occurrence_of(const UpdateJob& update, const TableJob& job, std::uint32_t value) {
  const Occurrences& all = update.occurrences;
  Occurrence found{value, 1.0F, 0};
  if (all.bags != nullptr) {
    found.bag = all.bags[value];
    found.position = static_cast<std::uint32_t>(value - all.starts[job.number]);
  }
  if (all.factors != nullptr) found.factor = all.factors[job.number * update.bags + found.bag];
  if (all.bags != nullptr && job.lookups.weights != nullptr)
    found.factor *= job.lookups.weights[job.lookups.offsets[0] + static_cast<std::int64_t>(found.position)];
  return found;
}

/// Adds the columns of a gradient that an occurrence gets, times its factor. With max pooling it gets those that it has
/// won.
template <std::size_t Width>
TUTTI_FUNCTION void add_share(const UpdateJob& update, const TableJob& job, const Occurrence& of, std::size_t column,
                              const float (&gradient)[Width], float (&sum)[Width]) {
  const Winners& winners = update.winners;
  const std::uint32_t* won = winners.positions;
  if (won != nullptr) won += (job.number * update.bags + of.bag) * winners.stride + column;
  TUTTI_UNROLL
  for (std::size_t e = 0; e < Width; ++e) {
    const bool is_its = won == nullptr || won[e] == of.position;
    sum[e] += is_its ? gradient[e] * of.factor : 0.0F;
  }
}

/// Adds the gradients of the occurrences with these values, of those that are used, in their order.
template <std::size_t InFlight, std::size_t Width>
TUTTI_FUNCTION void add_some(const UpdateJob& update, const TableJob& job, const std::uint32_t (&values)[InFlight],
                             const bool (&is_used)[InFlight], std::size_t column, float (&sum)[Width]) {
  float gradient[InFlight][Width];
  Occurrence at[InFlight] = {};
  TUTTI_UNROLL
  for (std::size_t u = 0; u < InFlight; ++u) {
    if (!is_used[u]) continue;
    at[u] = occurrence_of(update, job, values[u]);
    load_constant_pack(gradient[u], job.pooled + at[u].bag * job.pooled_stride + column);
  }
  TUTTI_UNROLL
  for (std::size_t u = 0; u < InFlight; ++u) {
    if (is_used[u]) add_share(update, job, at[u], column, gradient[u], sum);
  }
}

/// Adds the gradients of the occurrences of a row, which are those with the key of the first, in their order. Few are
/// in flight, so that many warps fit on the device.
template <std::size_t Width>
TUTTI_FUNCTION void add_row(const UpdateJob& update, const TableJob& job, const std::uint32_t* keys,
                            const std::uint32_t* values, std::size_t column, float (&sum)[Width]) {
  constexpr std::uint32_t in_flight = 2;
  const std::uint32_t key = keys[0];
  bool more = true;
  for (std::uint32_t i = 0; more && keys[i] == key; i += in_flight) {
    std::uint32_t some[in_flight];
    bool is_used[in_flight];
    TUTTI_UNROLL
    for (std::uint32_t u = 0; u < in_flight; ++u) {
      is_used[u] = more = more && keys[i + u] == key;
      some[u] = values[is_used[u] ? i + u : i];
    }
    add_some(update, job, some, is_used, column, sum);
  }
}

/// Adds the gradients of the occurrences of a part, in their order.
template <std::size_t Width>
TUTTI_FUNCTION void add_part(const UpdateJob& update, const TableJob& job, const RowPart& part, std::size_t column,
                             float (&sum)[Width]) {
  constexpr std::uint32_t in_flight = 8;
  const std::uint32_t length = part.end - part.begin;
  for (std::uint32_t i = 0; i < length; i += in_flight) {
    std::uint32_t values[in_flight];
    bool is_used[in_flight];
    TUTTI_UNROLL
    for (std::uint32_t u = 0; u < in_flight; ++u) {
      is_used[u] = u < length - i;
      values[u] = update.occurrences.values[part.begin + (is_used[u] ? i + u : i)];
    }
    add_some(update, job, values, is_used, column, sum);
  }
}

/// Adds the sums of a row's parts, in their order.
template <std::size_t Width>
TUTTI_FUNCTION void add_parts(const UpdateJob& update, const OftenRow& row, std::size_t dim, std::size_t column,
                              float (&sum)[Width]) {
  constexpr std::size_t in_flight = 12;
  const float* sums = update.often.sums + static_cast<std::size_t>(row.first_part) * dim + column;
  for (std::size_t p = 0; p < row.parts; p += in_flight) {
    float part[in_flight][Width];
    TUTTI_UNROLL
    for (std::size_t u = 0; u < in_flight; ++u) {
      if (p + u < row.parts) load_constant_pack(part[u], sums + (p + u) * dim);
    }
    TUTTI_UNROLL
    for (std::size_t u = 0; u < in_flight; ++u) {
      if (p + u >= row.parts) continue;
      TUTTI_UNROLL
      for (std::size_t e = 0; e < Width; ++e) sum[e] += part[u][e];
    }
  }
}

}  // namespace tutti::kernels::device
