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

/// The kernels on device memory. All are local and stream-ordered: they return at once, read and write in the order of
/// the stream, and give the numbers of the host's kernels of the same name. What is called "device memory" here may be
/// managed, or pinned where a kernel can reach it. Spans themselves (of tables, lookups, pooled vectors) are host
/// memory and are read before the call returns; the addresses inside them are of device memory. A stream of kind none
/// is the default stream. All throw Error(not_built) where this library has no kernels for the device, Error(cuda).
namespace tutti::kernels::device {

/// Whether this library has kernels for device memory: it was built with a Kokkos that has CUDA.
[[nodiscard]] TUTTI_EXPORT bool is_available() noexcept;

/// Device memory that kernels need beside their arguments; it grows at need, from the pools of the library, and is kept
/// between calls. One call at a time, all on one stream. Calls can be captured into a CUDA graph once the same calls
/// (shapes, addresses) were made before with this workspace and stream; else they throw Error(not_supported) that says
/// `capture`. It must outlive the graph. Its end waits for nothing: the caller has synchronised the stream before.
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

/// What lookups found outside of their tables; in device memory, set to zeros by the caller (cudaMemsetAsync) before
/// the calls that add to it. With the policy fatal, calls that find a number of outside indices other than zero in it
/// change nothing else, so that one check guards a whole step.
struct IndexStatus {
  std::uint64_t outside = 0;  ///< indices outside so far, of all calls
  std::uint64_t table = 0;    ///< of the first one, in the order of tables and positions (policy fatal)
  std::uint64_t bag = 0;
  std::uint64_t position = 0;  ///< inside the bag
  std::int64_t index = 0;
  std::int64_t rows = 0;
  std::uint64_t key = 0;  ///< of the library

  /// One sentence for a message, of a copy in host memory with outside > 0.
  [[nodiscard]] TUTTI_EXPORT std::string text() const;
};

/// Adds to `status` what is outside, and fills in the first. As tutti::kernels::check_indices.
TUTTI_EXPORT void check_indices(std::span<const EmbeddingTable> tables, std::span<const TableLookups> lookups,
                                IndexType index_type, std::size_t bags, IndexStatus* status, Workspace& workspace,
                                Stream stream);

/// As tutti::kernels::embedding_bag_forward, sum and mean pooling: weights, scales, indices, offsets, factors and
/// outputs are in device memory. options.policy clamp and ignore count in status->outside (null: nowhere); fatal checks
/// first, unless options.indices_checked, and needs a status. A lane reads 16 bytes at a time where rows are aligned to
/// 16 bytes and dim is a multiple of as many values. options.partitions is not used. Throws Error(invalid_argument) and
/// Error(invalid_datatype) as on the host; Error(not_supported) for max pooling.
TUTTI_EXPORT void embedding_bag_forward(std::span<const EmbeddingTable> tables, std::span<const TableLookups> lookups,
                                        IndexType index_type, std::size_t bags, std::span<const Pooled<float>> outputs,
                                        const EmbeddingOptions& options, IndexStatus* status, Workspace& workspace,
                                        Stream stream);

/// As tutti::kernels::embedding_bag_backward, sum and mean pooling, without squares: the occurrences are sorted by row
/// on the device, the gradients of a row are added in the order of their positions by one warp, without atomics, and
/// the row is updated at once. `indices`: how many the lookups of all tables have together, or a bound of it; all
/// tables together have at most 2^32 - 2 rows. Indices are not counted again; with the policy fatal, check_indices or
/// the forward has filled in `status`, and nothing is updated if it found something. Throws as
/// embedding_bag_forward; Error(not_supported) also for row-wise Adagrad where columns are sharded. Under capture the
/// numbers in `update` (the step too) are those of the capture.
TUTTI_EXPORT void embedding_bag_backward(std::span<const EmbeddingTable> tables, std::span<const TableLookups> lookups,
                                         IndexType index_type, std::size_t bags, std::size_t indices,
                                         std::span<const Pooled<const float>> gradients, std::span<float* const> states,
                                         const RowUpdate& update, const EmbeddingOptions& options,
                                         const IndexStatus* status, Workspace& workspace, Stream stream);

/// As tutti::kernels::segmented_sum; `offsets` are segments + 1 ascending entries in device memory, unchecked.
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

/// As tutti::kernels::dense_update. Under capture the numbers in `update` and the step are those of the capture.
TUTTI_EXPORT void dense_update(const DenseUpdate& update, std::uint64_t step, std::span<float> parameters,
                               std::span<const float> gradients, std::span<float> state, Stream stream);
TUTTI_EXPORT void dense_update(const DenseUpdate& update, std::uint64_t step, std::span<double> parameters,
                               std::span<const double> gradients, std::span<double> state, Stream stream);

/// As tutti::kernels::norm_part; the float64 result goes to `result` in device memory.
TUTTI_EXPORT void norm_part(Norm norm, DatatypeKind type, const void* data, std::size_t count, double* result,
                            Workspace& workspace, Stream stream);

/// to[i] = from[i], rounded to nearest: float32 to or from bfloat16 or float16, or a copy of one of them. Throws
/// Error(invalid_datatype).
TUTTI_EXPORT void convert(DatatypeKind from_type, const void* from, DatatypeKind to_type, void* to, std::size_t count,
                          Stream stream);

}  // namespace tutti::kernels::device
