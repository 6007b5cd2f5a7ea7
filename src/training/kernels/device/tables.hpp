// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <tutti/detail/launch/work.hpp>
#include <tutti/kernels/device.hpp>
#include <vector>

#include "training/kernels/device/scratch.hpp"
#include "training/kernels/row_arithmetic.hpp"

/// The tables of a call as kernels read them.
namespace tutti::kernels::device {

/// An EmbeddingTable without its type and so without padding: equal tables have equal bytes.
struct DeviceTable {
  void* weights;
  std::int64_t rows;
  std::size_t dim;
  std::size_t row_stride;
  RowScale* scales;
  ShardPlace place;
};

struct TableJob {
  DeviceTable table;
  TableLookups lookups;
  float* pooled;  ///< outputs, or gradients, which are only read
  std::size_t pooled_stride;
  float* state;
  double* squares;          ///< of the gradients of rows, at their first indices; null: made from whole rows
  std::uint64_t number;     ///< number of the table in the call
  std::uint64_t first_key;  ///< key of its first row; rows are numbered through all tables
};

static_assert(std::has_unique_object_representations_v<TableJob>);

/// Tables of one type and shape, which share a launch.
struct TableGroup {
  std::size_t first;
  std::size_t count;
  DatatypeKind type;
  std::size_t dim;
  bool wide;  ///< rows and pooled vectors can be read 16 bytes at a time
};

/// Jobs in the order of their groups, and the groups.
struct TableList {
  std::vector<TableJob> jobs;
  std::vector<TableGroup> groups;
  std::uint64_t rows = 0;
};

/// The values of a row that a lane holds when it reads 16 bytes.
[[nodiscard]] std::size_t wide_values(DatatypeKind type);

/// Throws tutti::Error as the host's kernels do, but reads no index. `float_rows`: lanes hold four values whatever the
/// type of rows.
[[nodiscard]] TableList list_tables(const char* function, std::span<const EmbeddingTable> tables,
                                    std::span<const TableLookups> lookups, std::span<const Pooled<float>> pooled,
                                    std::span<float* const> states, bool float_rows);

/// The status that a kernel must find to be zero under the policy fatal. Null for other policies, and if the indices
/// were checked and there is no status.
[[nodiscard]] const IndexStatus* guard_of(const char* function, const EmbeddingOptions& options,
                                          const IndexStatus* status);

TUTTI_FUNCTION bool is_stopped(const IndexStatus* guard) { return guard != nullptr && guard->outside != 0; }

/// Columns of one bag of one table.
struct BagPart {
  const TableJob& job;
  std::size_t bag;
  std::size_t column;
};
/// The part that item i works on, of `pieces` pieces of `width` columns per bag.
TUTTI_FUNCTION BagPart bag_part(const TableJob* jobs, std::size_t i, std::size_t bags, std::size_t pieces,
                                std::size_t width) {
  const Division piece = divide_item(i, pieces);
  const Division bag = divide_item(piece.quotient, bags);
  return {jobs[bag.quotient], bag.remainder, piece.remainder * width};
}

}  // namespace tutti::kernels::device
