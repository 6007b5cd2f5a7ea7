// SPDX-License-Identifier: BSD-3-Clause
#include "training/kernels/device/occurrences.hpp"

#include <algorithm>
#include <bit>
#include <tutti/kernels/launch.hpp>

#include "training/kernels/device/sort_rows.hpp"
#include "training/kernels/embedding_common.hpp"

namespace tutti::kernels::device {

namespace {

/// Item i: marks slot i as having no occurrence yet, and finds the first slot of table i. Tables are few, so a parallel
/// scan would gain nothing.
struct StartBody {
  const TableJob* jobs;
  std::size_t tables;
  std::size_t bags;
  std::uint64_t* starts;
  std::uint32_t* keys;
  std::size_t slots;
  std::uint32_t no_row;

  TUTTI_FUNCTION void operator()(std::size_t i) const {
    if (i < slots) keys[i] = no_row;
    if (i >= tables) return;
    std::uint64_t before = 0;
    for (std::size_t t = 0; t < tables; ++t) {
      const std::int64_t* offsets = jobs[t].lookups.offsets;
      if (jobs[t].number < jobs[i].number) before += static_cast<std::uint64_t>(offsets[bags] - offsets[0]);
    }
    starts[jobs[i].number] = before;
  }
};

/// Item i: fills the slots of one bag of one table.
template <typename Index>
struct ExpandBody {
  const TableJob* jobs;
  std::size_t bags;
  std::size_t most;
  IndexPolicy policy;
  const std::uint64_t* starts;
  const IndexStatus* guard;
  std::uint32_t* keys;
  std::uint32_t* values;
  std::uint32_t* bag_of_slot;
  float* factors;

  TUTTI_FUNCTION void operator()(std::size_t i) const {
    if (is_stopped(guard)) return;
    const Division at = divide_item(i, bags);
    const TableJob& job = jobs[at.quotient];
    const std::int64_t* offsets = job.lookups.offsets;
    const auto* indices = static_cast<const Index*>(job.lookups.indices);
    const std::size_t bag = at.remainder;
    std::int64_t counted = 0;
    for (std::int64_t p = offsets[bag]; p < offsets[bag + 1]; ++p) {
      const std::uint64_t slot = starts[job.number] + static_cast<std::uint64_t>(p - offsets[0]);
      const std::int64_t row = resolve(policy, static_cast<std::int64_t>(indices[p]), job.table.rows);
      if (slot >= most || row < 0) continue;
      ++counted;
      keys[slot] = static_cast<std::uint32_t>(job.first_key + static_cast<std::uint64_t>(row));
      values[slot] = static_cast<std::uint32_t>(bag_of_slot != nullptr ? slot : bag);
      if (bag_of_slot != nullptr) bag_of_slot[slot] = static_cast<std::uint32_t>(bag);
    }
    if (factors != nullptr) factors[job.number * bags + bag] = 1.0F / static_cast<float>(counted > 1 ? counted : 1);
  }
};

}  // namespace

Occurrences sort_occurrences(const OccurrenceCall& call, Workspace::Scratch& scratch, StreamHandle stream) {
  const std::size_t tables = call.list.jobs.size();
  const auto words = [&](ScratchUse use) { return scratch.array<std::uint32_t>(use, call.most, stream); };
  const SortPlaces places{{words(ScratchUse::keys), words(ScratchUse::other_keys)},
                          {words(ScratchUse::values), words(ScratchUse::other_values)},
                          call.most};
  auto* starts = scratch.array<std::uint64_t>(ScratchUse::starts, tables, stream);
  std::uint32_t* bag_of_slot = call.by_slots ? words(ScratchUse::bags) : nullptr;
  float* factors = call.options.pooling == Pooling::mean
                       ? scratch.array<float>(ScratchUse::factors, tables * call.bags, stream)
                       : nullptr;
  const auto no_row = static_cast<std::uint32_t>(call.list.rows);
  const auto bits = static_cast<unsigned>(std::max(1, static_cast<int>(std::bit_width(no_row))));
  const std::size_t scratch_bytes = sort_scratch_bytes(places, bits);
  std::byte* sorting = scratch.memory(ScratchUse::sorting, scratch_bytes, stream);
  launch(stream, std::max(tables, call.most),
         StartBody{call.jobs, tables, call.bags, starts, places.keys[0], call.most, no_row});
  visit_index(call.index_type, [&]<typename Index>(Index*) {
    launch(stream, tables * call.bags,
           ExpandBody<Index>{call.jobs, call.bags, call.most, call.options.policy, starts, call.guard, places.keys[0],
                             places.values[0], bag_of_slot, factors});
  });
  const int sorted = sort_rows(places, bits, sorting, scratch_bytes, stream);
  return {places.keys[sorted],
          places.values[sorted],
          bag_of_slot,
          starts,
          factors,
          static_cast<std::uint32_t>(call.most),
          no_row};
}

}  // namespace tutti::kernels::device
