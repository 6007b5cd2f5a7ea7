// SPDX-License-Identifier: BSD-3-Clause
#include "training/kernels/device/tables.hpp"

#include <algorithm>
#include <tutti/error.hpp>

#include "kernels/device/words.hpp"
#include "training/kernels/embedding_common.hpp"

namespace tutti::kernels::device {

namespace {

bool is_wide(const TableJob& job, DatatypeKind type, bool float_rows) {
  const DeviceTable& table = job.table;
  const std::size_t values = float_rows ? 4 : wide_values(type);
  const std::size_t bytes = word_bytes / wide_values(type);
  const auto multiple = [](std::size_t n, std::size_t of) { return n % of == 0; };
  const bool rows = multiple(table.dim, values) && multiple(table.row_stride, values) &&
                    multiple(reinterpret_cast<std::uintptr_t>(table.weights), values * bytes);
  const bool pooled = is_aligned(job.pooled) && multiple(job.pooled_stride, 4);
  const bool state = is_aligned(job.state) || table.dim % 4 != 0;
  return table.dim > 0 && rows && pooled && state;
}

bool same_group(const TableGroup& a, const TableGroup& b) {
  return a.type == b.type && a.dim == b.dim && a.wide == b.wide;
}

}  // namespace

std::size_t wide_values(DatatypeKind type) {
  if (type == DatatypeKind::float32) return 4;
  return type == DatatypeKind::uint8 ? 16 : 8;
}

TableList list_tables(const char* function, std::span<const EmbeddingTable> tables,
                      std::span<const TableLookups> lookups, std::span<const Pooled<float>> pooled,
                      std::span<float* const> states, bool float_rows) {
  EmbeddingOptions unchecked;
  unchecked.policy = IndexPolicy::clamp;  // nothing here reads an index
  check_call(function, tables, lookups, pooled.size(), IndexType::int64, 0, unchecked);
  TableList list;
  std::vector<TableGroup> group_of;
  for (std::size_t t = 0; t < tables.size(); ++t) {
    const EmbeddingTable& table = tables[t];
    list.jobs.push_back({{table.weights, table.rows, table.dim, table.row_stride, table.scales, table.place},
                         lookups[t],
                         pooled[t].data,
                         pooled[t].stride,
                         states.empty() ? nullptr : states[t],
                         nullptr,
                         t,
                         list.rows});
    list.rows += static_cast<std::uint64_t>(tables[t].rows);
    group_of.push_back({0, 0, tables[t].type, tables[t].dim, is_wide(list.jobs.back(), tables[t].type, float_rows)});
  }
  std::vector<TableJob> ordered;
  for (const TableGroup& kind : group_of) {
    if (std::any_of(list.groups.begin(), list.groups.end(), [&](const auto& g) { return same_group(g, kind); }))
      continue;
    TableGroup group = kind;
    group.first = ordered.size();
    for (std::size_t t = 0; t < tables.size(); ++t) {
      if (same_group(group_of[t], kind)) ordered.push_back(list.jobs[t]);
    }
    group.count = ordered.size() - group.first;
    list.groups.push_back(group);
  }
  list.jobs = std::move(ordered);
  return list;
}

const IndexStatus* guard_of(const char* function, const EmbeddingOptions& options, const IndexStatus* status) {
  if (options.policy != IndexPolicy::fatal) return nullptr;
  if (status == nullptr && !options.indices_checked) {
    throw Error(ErrorCode::invalid_argument,
                std::string(function) + ": status is null; the policy fatal needs one in device memory");
  }
  return status;
}

}  // namespace tutti::kernels::device
