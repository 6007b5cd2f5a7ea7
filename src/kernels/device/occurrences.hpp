// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/device/tables.hpp"

/// The occurrences of rows in a batch, sorted by row.
namespace tutti::kernels::device {

/// Rows of all tables are counted through: key = first_key of the table + row. What is no occurrence has the highest
/// key, no_row, and comes last.
struct Occurrences {
  const std::uint32_t* keys;
  const std::uint32_t* values;  ///< the bag, or the slot where `bags` is not null
  const std::uint32_t* bags;    ///< of a slot
  const std::uint64_t* starts;  ///< the first slot of each table (by number)
  const float* factors;         ///< 1 / indices that counted, [table number][bag], mean pooling; else null
  std::size_t count;
  std::uint32_t no_row;
};

struct OccurrenceCall {
  const TableList& list;
  const TableJob* jobs;
  IndexType index_type;
  std::size_t bags;
  std::size_t most;  ///< a bound of the number of indices
  const EmbeddingOptions& options;
  const IndexStatus* guard;
  bool weighted;
};

/// In stream order, into memory of the workspace.
[[nodiscard]] Occurrences sort_occurrences(const OccurrenceCall& call, Workspace::Scratch& scratch,
                                           StreamHandle stream);

}  // namespace tutti::kernels::device
