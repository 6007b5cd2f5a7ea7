// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/kernels/launch.hpp>

#include "training/kernels/device/atomics.hpp"
#include "training/kernels/device/row_pack.hpp"
#include "training/kernels/device/tables.hpp"
#include "training/kernels/embedding_common.hpp"

namespace tutti::kernels::device {

namespace {

/// Loads of rows that a lane has in flight.
constexpr int rows_in_flight = 4;

/// Item i: Width columns of some neighbouring bags of one table. 32 neighbouring lanes share bags of 32 * Width
/// columns, and read their indices at once. The first rows of all these bags are asked for together: bags of one row
/// would otherwise wait for one read after another.
template <typename Stored, typename Index, std::size_t Width>
struct PoolBody {
  static constexpr unsigned blocks_at_once = Width > 8 ? 2 : 4;
  static constexpr std::size_t together = Width > 4 ? 1 : 2;  ///< bags of an item: what the registers hold
  const TableJob* jobs;
  std::size_t bags;
  std::size_t groups;  ///< of bags
  std::size_t pieces;  ///< pieces of Width columns per bag
  bool mean;
  IndexPolicy policy;
  const IndexStatus* guard;
  IndexStatus* status;

  /// A bag and its first row.
  struct Head {
    std::int64_t begin;
    std::int64_t end;
    std::int64_t row;  ///< -1: there is none
    Stored values[Width];
  };

  /// The indices of a bag.
  struct Counts {
    std::int64_t counted;
    std::uint64_t outside;
  };

  TUTTI_FUNCTION void operator()(std::size_t i) const {
    if (is_stopped(guard)) return;
    const auto [job, group, column] = bag_part(jobs, i, groups, pieces, Width);
    Counts counts[together] = {};
    Head heads[together];
    TUTTI_UNROLL
    for (std::size_t b = 0; b < together; ++b) {
      const std::size_t bag = group * together + b;
      const bool is_there = bag < bags;
      heads[b].begin = is_there ? job.lookups.offsets[bag] : 0;
      heads[b].end = is_there ? job.lookups.offsets[bag + 1] : 0;
    }
    TUTTI_UNROLL
    for (std::size_t b = 0; b < together; ++b) {
      Head& head = heads[b];
      head.row = head.begin < head.end ? row_of(job, head.begin, counts[b]) : -1;
      if (head.row >= 0) load_constant_pack(head.values, row_at<Stored>(job.table, head.row) + column);
    }
    TUTTI_UNROLL
    for (std::size_t b = 0; b < together; ++b) {
      const std::size_t bag = group * together + b;
      if (bag >= bags) break;
      pool(job, bag, column, heads[b], counts[b]);
    }
  }

  TUTTI_FUNCTION std::int64_t row_of(const TableJob& job, std::int64_t position, Counts& counts) const {
    const auto index = static_cast<std::int64_t>(static_cast<const Index*>(job.lookups.indices)[position]);
    const std::int64_t row = resolve(policy, index, job.table.rows);
    counts.outside += row < 0 || row != index ? 1U : 0U;
    counts.counted += row >= 0 ? 1 : 0;
    return row;
  }

  TUTTI_FUNCTION void pool(const TableJob& job, std::size_t bag, std::size_t column, const Head& head,
                           Counts& counts) const {
    float sum[Width] = {};
    if (head.row >= 0) add_row(job, head.values, head.row, head.begin, sum);
    add_others(job, head, column, counts, sum);
    const float count = mean && counts.counted > 1 ? static_cast<float>(counts.counted) : 1.0F;
    TUTTI_UNROLL
    for (std::size_t e = 0; e < Width; ++e) sum[e] /= count;
    if (policy != IndexPolicy::fatal && counts.outside > 0 && column == 0 && status != nullptr)
      (void)fetch_add(&status->outside, counts.outside);
    store_pack(job.pooled + bag * job.pooled_stride + column, sum);
  }

  /// Adds the rows after the first, in the order of positions.
  TUTTI_FUNCTION void add_others(const TableJob& job, const Head& head, std::size_t column, Counts& counts,
                                 float (&sum)[Width]) const {
    for (std::int64_t p = head.begin + 1; p < head.end; p += rows_in_flight) {
      Stored values[rows_in_flight][Width];
      std::int64_t rows[rows_in_flight];
      TUTTI_UNROLL
      for (int u = 0; u < rows_in_flight; ++u) {
        rows[u] = p + u < head.end ? row_of(job, p + u, counts) : -1;
        if (rows[u] >= 0) load_constant_pack(values[u], row_at<Stored>(job.table, rows[u]) + column);
      }
      TUTTI_UNROLL
      for (int u = 0; u < rows_in_flight; ++u) {
        if (rows[u] >= 0) add_row(job, values[u], rows[u], p + u, sum);
      }
    }
  }

  TUTTI_FUNCTION void add_row(const TableJob& job, const Stored (&values)[Width], std::int64_t row,
                              std::int64_t position, float (&sum)[Width]) const {
    const float factor = job.lookups.weights != nullptr ? job.lookups.weights[position] : 1.0F;
    RowScale scale;
    if constexpr (std::is_same_v<Stored, std::uint8_t>) scale = job.table.scales[row];
    TUTTI_UNROLL
    for (std::size_t e = 0; e < Width; ++e) {
      float x = row_value(values[e]);
      if constexpr (std::is_same_v<Stored, std::uint8_t>) x = scaled_value(x, scale);
      sum[e] += x * factor;
    }
  }
};

/// Item i: as PoolBody, by maximum. A bag without rows has zeros.
template <typename Stored, typename Index, std::size_t Width>
struct MaxBody {
  const TableJob* jobs;
  std::size_t bags;
  std::size_t pieces;
  IndexPolicy policy;
  const IndexStatus* guard;
  IndexStatus* status;

  TUTTI_FUNCTION void operator()(std::size_t i) const {
    if (is_stopped(guard)) return;
    const auto [job, bag, column] = bag_part(jobs, i, bags, pieces, Width);
    float largest[Width] = {};
    bool is_empty = true;
    std::uint64_t outside = 0;
    for (std::int64_t p = job.lookups.offsets[bag]; p < job.lookups.offsets[bag + 1]; ++p) {
      const auto index = static_cast<std::int64_t>(static_cast<const Index*>(job.lookups.indices)[p]);
      const std::int64_t row = resolve(policy, index, job.table.rows);
      outside += row < 0 || row != index ? 1U : 0U;
      if (row < 0) continue;
      float values[Width];
      load_row_values<Stored>(job.table, row, column, values);
      TUTTI_UNROLL
      for (std::size_t e = 0; e < Width; ++e) largest[e] = is_empty || values[e] > largest[e] ? values[e] : largest[e];
      is_empty = false;
    }
    if (policy != IndexPolicy::fatal && outside > 0 && column == 0 && status != nullptr)
      (void)fetch_add(&status->outside, outside);
    store_pack(job.pooled + bag * job.pooled_stride + column, largest);
  }
};

struct PoolCall {
  const TableJob* jobs;
  TableGroup group;
  IndexType index_type;
  std::size_t bags;
  const EmbeddingOptions& options;
  const IndexStatus* guard;
  IndexStatus* status;
  StreamHandle stream;
};

template <typename Stored, typename Index, std::size_t Width>
void launch_pool(const PoolCall& call) {
  const TableJob* jobs = call.jobs + call.group.first;
  const std::size_t pieces = call.group.dim / Width;
  const Pooling pooling = call.options.pooling;
  const IndexPolicy policy = call.options.policy;
  if (pooling == Pooling::max)
    return launch(call.stream, call.group.count * call.bags * pieces,
                  MaxBody<Stored, Index, Width>{jobs, call.bags, pieces, policy, call.guard, call.status});
  using Body = PoolBody<Stored, Index, Width>;
  const std::size_t groups = (call.bags + Body::together - 1) / Body::together;
  launch(call.stream, call.group.count * groups * pieces,
         Body{jobs, call.bags, groups, pieces, pooling == Pooling::mean, policy, call.guard, call.status});
}

template <typename Stored, typename Index>
void launch_width(const PoolCall& call) {
  if (call.group.wide) return launch_pool<Stored, Index, word_bytes / sizeof(Stored)>(call);
  launch_pool<Stored, Index, 1>(call);
}

}  // namespace

void embedding_bag_forward(std::span<const EmbeddingTable> tables, std::span<const TableLookups> lookups,
                           IndexType index_type, std::size_t bags, std::span<const Pooled<float>> outputs,
                           const EmbeddingOptions& options, IndexStatus* status, Workspace& workspace, Stream stream) {
  constexpr const char* name = "device::embedding_bag_forward";
  const TableList list = list_tables(name, tables, lookups, outputs, {}, false);
  const IndexStatus* guard = guard_of(name, options, status);
  if (guard != nullptr && !options.indices_checked)
    check_indices(tables, lookups, index_type, bags, status, workspace, stream);
  if (tables.empty() || bags == 0) return;
  const TableJob* jobs = entered(workspace, handle_of(stream)).upload(list.jobs, handle_of(stream));
  for (const TableGroup& group : list.groups) {
    if (group.dim == 0) continue;
    const PoolCall call{jobs, group, index_type, bags, options, guard, status, handle_of(stream)};
    visit_row(group.type, [&]<typename Stored>(Stored*) {
      visit_index(index_type, [&]<typename Index>(Index*) { launch_width<Stored, Index>(call); });
    });
  }
}

}  // namespace tutti::kernels::device
