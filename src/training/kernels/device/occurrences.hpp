// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "training/kernels/device/tables.hpp"

/// The occurrences of rows in a batch, sorted by row.
namespace tutti::kernels::device {

/// Rows are numbered through all tables: key = first_key of the table + row. Slots without an occurrence have the
/// highest key, no_row, and come last.
struct Occurrences {
  const std::uint32_t* keys;
  const std::uint32_t* values;  ///< the bag, or the slot if `bags` is given
  const std::uint32_t* bags;    ///< the bag of each slot, or null
  const std::uint64_t* starts;  ///< the first slot of each table (by number)
  const float* factors;         ///< [table number][bag], 1 / indices that counted (mean pooling), or null
  std::uint32_t count;
  std::uint32_t no_row;
};

struct OccurrenceCall {
  const TableList& list;
  const TableJob* jobs;
  IndexType index_type;
  std::size_t bags;
  std::size_t most;  ///< an upper bound on the number of indices
  const EmbeddingOptions& options;
  const IndexStatus* guard;
  bool by_slots;  ///< values are slots, and `bags` is given
};

/// Sorts in stream order, into memory of the workspace.
[[nodiscard]] Occurrences sort_occurrences(const OccurrenceCall& call, Workspace::Scratch& scratch,
                                           StreamHandle stream);

}  // namespace tutti::kernels::device
