// SPDX-License-Identifier: BSD-3-Clause
#include "training/kernels/device/winners.hpp"

#include <algorithm>
#include <tutti/kernels/launch.hpp>

#include "training/kernels/device/row_pack.hpp"
#include "training/kernels/embedding_common.hpp"

namespace tutti::kernels::device {

namespace {

constexpr std::uint32_t nowhere = 0xffffffffU;

/// Item i: one column of one bag of one table.
template <typename Stored, typename Index>
struct WinnerBody {
  const TableJob* jobs;
  std::size_t bags;
  std::size_t dim;
  std::size_t stride;
  IndexPolicy policy;
  const IndexStatus* guard;
  std::uint32_t* positions;

  TUTTI_FUNCTION void operator()(std::size_t i) const {
    if (is_stopped(guard)) return;
    const auto [job, bag, column] = bag_part(jobs, i, bags, dim, 1);
    const std::int64_t* offsets = job.lookups.offsets;
    float best[1] = {};
    std::uint32_t winner = nowhere;
    for (std::int64_t p = offsets[bag]; p < offsets[bag + 1]; ++p) {
      const auto index = static_cast<std::int64_t>(static_cast<const Index*>(job.lookups.indices)[p]);
      const std::int64_t row = resolve(policy, index, job.table.rows);
      if (row < 0) continue;
      float value[1];
      load_row_values<Stored>(job.table, row, column, value);
      if (winner != nowhere && !(value[0] > best[0])) continue;
      best[0] = value[0];
      winner = static_cast<std::uint32_t>(p - offsets[0]);
    }
    positions[(job.number * bags + bag) * stride + column] = winner;
  }
};

}  // namespace

Winners find_winners(const WinnerCall& call, Workspace::Scratch& scratch, StreamHandle stream) {
  if (call.options.pooling != Pooling::max) return {};
  std::size_t stride = 0;
  for (const TableGroup& group : call.list.groups) stride = std::max(stride, group.dim);
  const std::size_t count = call.list.jobs.size() * call.bags * stride;
  auto* positions = scratch.array<std::uint32_t>(ScratchUse::winners, count, stream);
  for (const TableGroup& group : call.list.groups) {
    visit_row(group.type, [&]<typename Stored>(Stored*) {
      visit_index(call.index_type, [&]<typename Index>(Index*) {
        launch(stream, group.count * call.bags * group.dim,
               WinnerBody<Stored, Index>{call.jobs + group.first, call.bags, group.dim, stride, call.options.policy,
                                         call.guard, positions});
      });
    });
  }
  return {positions, stride};
}

}  // namespace tutti::kernels::device
