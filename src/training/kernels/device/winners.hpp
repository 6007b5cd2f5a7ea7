// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "training/kernels/device/tables.hpp"

/// Which row of a bag has the maximum of each column, for the backward pass of max pooling.
namespace tutti::kernels::device {

struct WinnerCall {
  const TableList& list;
  const TableJob* jobs;
  IndexType index_type;
  std::size_t bags;
  const EmbeddingOptions& options;
  const IndexStatus* guard;
};

/// Finds them before any row changes, in stream order: for [table number][bag][column] the position of the index from
/// the table's first; the first of equal ones. A table has `stride` columns there, the most of all.
struct Winners {
  const std::uint32_t* positions = nullptr;  ///< null: no max pooling
  std::size_t stride = 0;
};
[[nodiscard]] Winners find_winners(const WinnerCall& call, Workspace::Scratch& scratch, StreamHandle stream);

}  // namespace tutti::kernels::device
