// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tutti/datatype.hpp>
#include <tutti/detail/export.hpp>

namespace tutti::kernels {

/// The way to combine the rows of a bag into one vector. An empty bag gives zeros.
enum class Pooling : std::uint8_t { sum, mean, max };

/// The treatment of an index outside [0, rows).
enum class IndexPolicy : std::uint8_t {
  fatal,   ///< throws Error(index_out_of_range) before anything is written
  clamp,   ///< uses the nearest row and counts the index
  ignore,  ///< leaves the index out of the bag and counts it
};

/// The type of the indices in lookups.
enum class IndexType : std::uint8_t { int32, int64 };

/// The scale of a row of type uint8: value = scale * q + bias, in float32. Counterpart: fbgemm's 8-bit rows with a
/// scale per row.
struct RowScale {
  float scale = 1;
  float bias = 0;
};

/// The position of a shard in its whole table. Stochastic rounding draws its random bits by row and column of the whole
/// table, so they do not depend on the sharding.
struct ShardPlace {
  std::uint64_t table = 0;        ///< index of the table in the model
  std::int64_t first_row = 0;     ///< row of the whole table that is row 0 of the shard
  std::size_t first_column = 0;   ///< column of the whole table that is column 0 of the shard
  std::size_t whole_columns = 0;  ///< columns of the whole table; 0: dim, for unsharded columns
  std::int64_t row_step = 1;      ///< distance of the shard's rows in the whole table
  /// If memory has some of the shard's rows: the row of the shard that each row in memory is. Else null.
  const std::uint64_t* cached_rows = nullptr;
};

/// A table, or a shard of a table, of rows x dim values in host memory, owned by the caller. Row r starts at element
/// r * row_stride. Each row of type uint8 has a scale for the shard's own columns. Shards of columns therefore have
/// their own scales, and in this one case the stored values depend on the sharding.
struct EmbeddingTable {
  void* weights = nullptr;
  DatatypeKind type = DatatypeKind::float32;  ///< float32, bfloat16, float16 or uint8
  std::int64_t rows = 0;
  std::size_t dim = 0;
  std::size_t row_stride = 0;  ///< distance between rows, at least dim, in elements
  RowScale* scales = nullptr;  ///< one per row; type uint8 only
  ShardPlace place = {};
};

/// The bags of one table: bag b has the indices at positions offsets[b] .. offsets[b + 1] - 1 of `indices`.
/// One array of offsets [table][bag] plus a last entry can serve all tables: pass `offsets + t * bags` for table t, and
/// the same `indices` for every table.
struct TableLookups {
  const void* indices = nullptr;          ///< int32 or int64, see IndexType
  const std::int64_t* offsets = nullptr;  ///< bags + 1 ascending entries
  const float* weights = nullptr;         ///< one factor per index, at the same position; nullptr: 1; not with max
};

/// The pooled vectors of one table, or their gradients: bag b is at data + b * stride. A stride of tables * dim with
/// data = base + table * dim makes the layout [bag][table][dim]; a stride of dim makes [table][bag][dim].
template <typename Float>
struct Pooled {
  Float* data = nullptr;
  std::size_t stride = 0;  ///< distance between bags, in elements
};

/// Options of the embedding kernels.
struct EmbeddingOptions {
  Pooling pooling = Pooling::sum;
  IndexPolicy policy = IndexPolicy::fatal;
  bool indices_checked = false;  ///< the caller has run check_indices on these lookups (policy fatal only)
  std::size_t partitions = 0;    ///< parts of the work; 0: one per Kokkos host thread. Results do not depend on it
};

/// The first index that is out of range, in the order of tables and positions.
struct IndexViolation {
  std::size_t table;
  std::size_t bag;       ///< index of the sample
  std::size_t position;  ///< position in the bag
  std::int64_t index;
  std::int64_t rows;
  /// Describes the violation in one sentence: table, sample, position, index and range.
  [[nodiscard]] TUTTI_EXPORT std::string text() const;
};

/// Finds the first index out of range without touching a table (weights may be null), so that ranks can agree on the
/// outcome before they exchange data. Local, blocking, host memory.
[[nodiscard]] TUTTI_EXPORT std::optional<IndexViolation> check_indices(std::span<const EmbeddingTable> tables,
                                                                       std::span<const TableLookups> lookups,
                                                                       IndexType index_type, std::size_t bags);

/// Pools the bags of all tables in one launch. Local, blocking, host memory. outputs[t] takes bags x dim float32
/// values. Sums are in float32, in the order of the positions; mean divides by the number of indices that were not
/// ignored. Returns the number of indices that were clamped or ignored (0 with the policy fatal). Throws
/// Error(invalid_argument) for spans of different lengths and impossible shapes, Error(invalid_datatype),
/// Error(index_out_of_range).
/// Counterpart: torch.nn.EmbeddingBag.
TUTTI_EXPORT std::size_t embedding_bag_forward(std::span<const EmbeddingTable> tables,
                                               std::span<const TableLookups> lookups, IndexType index_type,
                                               std::size_t bags, std::span<const Pooled<float>> outputs,
                                               const EmbeddingOptions& options = {});

}  // namespace tutti::kernels
