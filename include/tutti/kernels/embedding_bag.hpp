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

/// How the rows of a bag become one vector. An empty bag gives zeros.
enum class Pooling : std::uint8_t { sum, mean, max };

/// What happens to an index outside [0, rows).
enum class IndexPolicy : std::uint8_t {
  fatal,   ///< Error(index_out_of_range), before anything is written
  clamp,   ///< the nearest row, counted
  ignore,  ///< as if it were not in the bag, counted
};

enum class IndexType : std::uint8_t { int32, int64 };

/// How a row of type uint8 is read: value = scale * q + bias, in float32. As fbgemm's row-wise scaled 8-bit rows.
struct RowScale {
  float scale = 1;
  float bias = 0;
};

/// Where a shard lies in its whole table. Random bits of stochastic rounding are those of the whole table's rows and
/// columns, so they do not depend on how it is sharded.
struct ShardPlace {
  std::uint64_t table = 0;        ///< number of the table in the model
  std::int64_t first_row = 0;     ///< row of the whole table that is row 0 here
  std::size_t first_column = 0;   ///< column of the whole table that is column 0 here
  std::size_t whole_columns = 0;  ///< columns of the whole table; 0: dim, the columns are not sharded
};

/// A table, or the shard of one, of rows x dim values in host memory, owned by the caller. Row r starts at element
/// r * row_stride. Rows of type uint8 have a scale each, for the columns that are here: where columns are sharded,
/// every shard has its own scales, so (as nowhere else) the stored values depend on the sharding.
struct EmbeddingTable {
  void* weights = nullptr;
  DatatypeKind type = DatatypeKind::float32;  ///< float32, bfloat16, float16 or uint8
  std::int64_t rows = 0;
  std::size_t dim = 0;
  std::size_t row_stride = 0;  ///< elements, at least dim
  RowScale* scales = nullptr;  ///< one a row, type uint8 only
  ShardPlace place = {};
};

/// The bags of one table: bag b has the indices at positions offsets[b] .. offsets[b + 1] - 1 of `indices`.
/// One array of offsets [table][bag] plus a last entry serves all tables: give table t `offsets + t * bags` and every
/// table the same `indices`.
struct TableLookups {
  const void* indices = nullptr;          ///< int32 or int64, see IndexType
  const std::int64_t* offsets = nullptr;  ///< bags + 1 ascending entries
  const float* weights = nullptr;  ///< one factor an index (at the same position), or nullptr for 1; not with max
};

/// Where the pooled vectors of one table go, or their gradients come from: bag b at data + b * stride. A stride of
/// tables * dim with data = base + table * dim makes [bag][table][dim]; a stride of dim makes [table][bag][dim].
template <typename Float>
struct Pooled {
  Float* data = nullptr;
  std::size_t stride = 0;  ///< elements
};

struct EmbeddingOptions {
  Pooling pooling = Pooling::sum;
  IndexPolicy policy = IndexPolicy::fatal;
  bool indices_checked = false;  ///< the caller has run check_indices on these very lookups (fatal policy only)
  std::size_t partitions = 0;    ///< pieces of work, 0: one a thread of Kokkos' host space. Results do not depend on it
};

/// The first index that is out of range, in the order of tables and positions.
struct IndexViolation {
  std::size_t table;
  std::size_t bag;       ///< the sample
  std::size_t position;  ///< inside the bag
  std::int64_t index;
  std::int64_t rows;
  /// One sentence for a message: table, sample, position, index and the range.
  [[nodiscard]] TUTTI_EXPORT std::string text() const;
};

/// Looks for an index out of range without touching a table (weights may be null), so that ranks can agree on the
/// outcome before they exchange anything. Local, blocking, host memory.
[[nodiscard]] TUTTI_EXPORT std::optional<IndexViolation> check_indices(std::span<const EmbeddingTable> tables,
                                                                       std::span<const TableLookups> lookups,
                                                                       IndexType index_type, std::size_t bags);

/// Pools the bags of all tables in one launch; local, blocking, host memory. outputs[t] is bags x dim float32 values;
/// sums are in float32 in the order of the positions. Returns how many indices were clamped or ignored (0 when fatal).
/// Mean divides by the number of indices that counted. Throws Error(invalid_argument) for spans of different lengths
/// and impossible shapes, Error(invalid_datatype), Error(index_out_of_range). Counterpart: torch.nn.EmbeddingBag.
TUTTI_EXPORT std::size_t embedding_bag_forward(std::span<const EmbeddingTable> tables,
                                               std::span<const TableLookups> lookups, IndexType index_type,
                                               std::size_t bags, std::span<const Pooled<float>> outputs,
                                               const EmbeddingOptions& options = {});

}  // namespace tutti::kernels
