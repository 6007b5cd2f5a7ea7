// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <tutti/datatype.hpp>
#include <tutti/detail/export.hpp>
#include <tutti/kernels/embedding_backward.hpp>
#include <tutti/kernels/embedding_bag.hpp>
#include <tutti/kernels/interaction.hpp>
#include <tutti/kernels/norms.hpp>
#include <tutti/kernels/optimizers.hpp>
#include <tutti/options.hpp>

/// The kernels of the training layer for device memory; <tutti/kernels/device.hpp>, which includes this header, says
/// what all kernels there have in common. The spans themselves (of tables, lookups, pooled vectors) are in host memory
/// and are read before the call returns; the addresses in them point to device memory.
namespace tutti::kernels::device {

/// Owns the scratch device memory of kernels, which comes from the pools of the library, grows as needed and is kept
/// between calls. Serves one call at a time, all on one stream. A call can be captured into a CUDA graph after the same
/// call (shapes, addresses) has run once with this workspace and stream; otherwise it throws Error(not_supported) with
/// `capture` in the text. The workspace must outlive the graph. The destructor waits for nothing, so synchronise the
/// stream first.
class TUTTI_EXPORT Workspace {
 public:
  Workspace();
  ~Workspace();
  Workspace(Workspace&&) noexcept;
  Workspace& operator=(Workspace&&) noexcept;

  struct Scratch;
  [[nodiscard]] Scratch& scratch() { return *scratch_; }

 private:
  std::unique_ptr<Scratch> scratch_;
};

/// The indices that lookups found outside their tables. Lies in device memory; the caller zeroes it (cudaMemsetAsync)
/// before the calls that add to it. With the policy fatal, a call that finds `outside` other than zero changes nothing,
/// so that one check guards a whole step.
struct IndexStatus {
  std::uint64_t outside = 0;  ///< number of indices outside so far, over all calls
  std::uint64_t table = 0;    ///< table of the first one in order of tables and positions (policy fatal)
  std::uint64_t bag = 0;
  std::uint64_t position = 0;  ///< position in the bag
  std::int64_t index = 0;
  std::int64_t rows = 0;
  std::uint64_t key = 0;  ///< for the library's own use

  /// Describes the first violation in one sentence. Call it on a copy in host memory that has outside > 0.
  [[nodiscard]] TUTTI_EXPORT std::string text() const;
};

/// Counts the indices outside their tables in `status` and records the first. Otherwise as
/// tutti::kernels::check_indices.
TUTTI_EXPORT void check_indices(std::span<const EmbeddingTable> tables, std::span<const TableLookups> lookups,
                                IndexType index_type, std::size_t bags, IndexStatus* status, Workspace& workspace,
                                Stream stream);

/// As tutti::kernels::embedding_bag_forward. Weights, scales, indices, offsets, factors and
/// outputs are in device memory. The policies clamp and ignore count in status->outside, unless status is null; fatal
/// needs a status, and checks first unless options.indices_checked is set. A lane reads 16 bytes at a time if rows are
/// aligned to 16 bytes and dim is a multiple of the values in 16 bytes. Ignores options.partitions. Throws
/// Error(invalid_argument) and Error(invalid_datatype) as on the host.
TUTTI_EXPORT void embedding_bag_forward(std::span<const EmbeddingTable> tables, std::span<const TableLookups> lookups,
                                        IndexType index_type, std::size_t bags, std::span<const Pooled<float>> outputs,
                                        const EmbeddingOptions& options, IndexStatus* status, Workspace& workspace,
                                        Stream stream);

/// As tutti::kernels::embedding_bag_backward. Sorts the occurrences by row on the device; one warp
/// adds the gradients of a row, in the order of their positions and in parts of 128 as on the host, and updates the
/// row; the parts of a row that occurs often are several warps'. Throws not_supported for rows of more than 10,028
/// values with row_wise_adagrad or of type uint8. `indices` is the number of indices in the lookups of all tables, or
/// an upper bound. All tables together have at most 2^32 - 2 rows and indices, and there are at most 2^32 - 2 bags.
/// Does not count indices again; with the policy fatal, check_indices or the forward call has filled in `status`, and
/// no row is updated if it found a violation. Throws as embedding_bag_forward. A captured call keeps the numbers in
/// `update`, including the step, as they were at capture. squares is for row-wise Adagrad on tables with sharded
/// columns: one address per table, of the totals of what embedding_row_squares has found in all shards; those of other
/// tables are null.
TUTTI_EXPORT void embedding_bag_backward(std::span<const EmbeddingTable> tables, std::span<const TableLookups> lookups,
                                         IndexType index_type, std::size_t bags, std::size_t indices,
                                         std::span<const Pooled<const float>> gradients, std::span<float* const> states,
                                         const RowUpdate& update, const EmbeddingOptions& options,
                                         const IndexStatus* status, Workspace& workspace, Stream stream,
                                         std::span<double* const> squares = {});

/// As tutti::kernels::embedding_row_squares, but squares[t], in device memory, has a value for each index of table t.
/// The sum of a row comes to the position of the row's first index (the bags' first index is at 0), and other values
/// stay as they are. All shards that see the same lookups use the same positions, so that whole arrays can be added.
/// `indices`, `status` and errors as in embedding_bag_backward.
TUTTI_EXPORT void embedding_row_squares(std::span<const EmbeddingTable> tables, std::span<const TableLookups> lookups,
                                        IndexType index_type, std::size_t bags, std::size_t indices,
                                        std::span<const Pooled<const float>> gradients, const EmbeddingOptions& options,
                                        const IndexStatus* status, Workspace& workspace, Stream stream,
                                        std::span<double* const> squares);

/// As tutti::kernels::segmented_sum. `offsets` has segments + 1 ascending entries in device memory, which are not
/// checked.
TUTTI_EXPORT void segmented_sum(DatatypeKind type, const void* values, std::size_t dim, const std::int64_t* offsets,
                                std::size_t segments, void* output, Stream stream);

/// As tutti::kernels::dot_interaction_forward.
TUTTI_EXPORT void dot_interaction_forward(const DotInteraction& shape, std::size_t samples,
                                          std::span<const Pooled<const float>> inputs, float* output,
                                          std::size_t stride, Workspace& workspace, Stream stream);

/// As tutti::kernels::dot_interaction_backward.
TUTTI_EXPORT void dot_interaction_backward(const DotInteraction& shape, std::size_t samples,
                                           std::span<const Pooled<const float>> inputs, const float* output_gradient,
                                           std::size_t stride, std::span<const Pooled<float>> input_gradients,
                                           Workspace& workspace, Stream stream);

/// As tutti::kernels::dense_update. A captured call keeps `update` and `step` as they were at capture.
TUTTI_EXPORT void dense_update(const DenseUpdate& update, std::uint64_t step, std::span<float> parameters,
                               std::span<const float> gradients, std::span<float> state, Stream stream);
TUTTI_EXPORT void dense_update(const DenseUpdate& update, std::uint64_t step, std::span<double> parameters,
                               std::span<const double> gradients, std::span<double> state, Stream stream);

/// As tutti::kernels::norm_part, but writes the float64 result to `result` in device memory.
TUTTI_EXPORT void norm_part(Norm norm, DatatypeKind type, const void* data, std::size_t count, double* result,
                            Workspace& workspace, Stream stream);

}  // namespace tutti::kernels::device
