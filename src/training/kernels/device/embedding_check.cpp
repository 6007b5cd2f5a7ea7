// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/kernels/launch.hpp>

#include "training/kernels/device/atomics.hpp"
#include "training/kernels/device/tables.hpp"
#include "training/kernels/embedding_common.hpp"

namespace tutti::kernels::device {

namespace {

constexpr unsigned position_bits = 40;

/// Later tables and positions have lower keys; 0 means that nothing was found.
TUTTI_FUNCTION std::uint64_t key_of(std::uint64_t table, std::int64_t position) {
  return ~((table << position_bits) | static_cast<std::uint64_t>(position));
}

/// Item i: checks one bag of one table.
template <typename Index>
struct CheckBody {
  const TableJob* jobs;
  std::size_t bags;
  IndexStatus* status;

  TUTTI_FUNCTION void operator()(std::size_t i) const {
    const Division bag = divide_item(i, bags);
    const TableJob& job = jobs[bag.quotient];
    const auto* indices = static_cast<const Index*>(job.lookups.indices);
    const std::int64_t end = job.lookups.offsets[bag.remainder + 1];
    for (std::int64_t p = job.lookups.offsets[bag.remainder]; p < end; ++p) {
      const auto index = static_cast<std::int64_t>(indices[p]);
      if (static_cast<std::uint64_t>(index) < static_cast<std::uint64_t>(job.table.rows)) continue;
      (void)fetch_add(&status->outside, std::uint64_t{1});
      keep_larger(&status->key, key_of(job.number, p - job.lookups.offsets[0]));
    }
  }
};

/// One item: writes the status that the key stands for.
template <typename Index>
struct ExplainBody {
  const TableJob* jobs;
  std::size_t tables;
  std::size_t bags;
  IndexStatus* status;

  TUTTI_FUNCTION void operator()(std::size_t /*item*/) const {
    if (status->key == 0) return;
    const std::uint64_t number = ~status->key >> position_bits;
    const auto position = static_cast<std::int64_t>(~status->key & ((std::uint64_t{1} << position_bits) - 1));
    for (std::size_t t = 0; t < tables; ++t) {
      if (jobs[t].number == number) explain(jobs[t], position);
    }
  }

  TUTTI_FUNCTION void explain(const TableJob& job, std::int64_t position) const {
    const std::int64_t* offsets = job.lookups.offsets;
    const std::int64_t at = offsets[0] + position;
    std::size_t low = 0;
    std::size_t high = bags;
    while (high - low > 1) {
      const std::size_t middle = (low + high) / 2;
      (offsets[middle] <= at ? low : high) = middle;
    }
    status->table = job.number;
    status->bag = low;
    status->position = static_cast<std::uint64_t>(at - offsets[low]);
    status->index = static_cast<std::int64_t>(static_cast<const Index*>(job.lookups.indices)[at]);
    status->rows = job.table.rows;
  }
};

}  // namespace

std::string IndexStatus::text() const {
  return IndexViolation{table, bag, position, index, rows}.text() + "; " + std::to_string(outside) + " in all";
}

void check_indices(std::span<const EmbeddingTable> tables, std::span<const TableLookups> lookups, IndexType index_type,
                   std::size_t bags, IndexStatus* status, Workspace& workspace, Stream stream) {
  constexpr const char* name = "device::check_indices";
  if (status == nullptr) throw Error(ErrorCode::invalid_argument, std::string(name) + ": status is null");
  const std::vector<Pooled<float>> nothing(tables.size());
  const TableList list = list_tables(name, tables, lookups, nothing, {}, false);
  if (tables.empty() || bags == 0) return;
  const TableJob* jobs = entered(workspace, handle_of(stream)).upload(list.jobs, handle_of(stream));
  visit_index(index_type, [&]<typename Index>(Index*) {
    launch(handle_of(stream), tables.size() * bags, CheckBody<Index>{jobs, bags, status});
    launch(handle_of(stream), 1, ExplainBody<Index>{jobs, tables.size(), bags, status});
  });
}

}  // namespace tutti::kernels::device
