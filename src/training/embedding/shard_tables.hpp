// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <tutti/kernels/device.hpp>
#include <tutti/kernels/embedding_backward.hpp>
#include <vector>

#include "training/embedding/batch_lookups.hpp"
#include "training/embedding/memory.hpp"
#include "training/embedding/row_cache.hpp"

namespace tutti::detail {

/// The rows of this rank's pieces and their optimizer state, initially zero; on a device, zeroed in the order of the
/// collection's stream. Rows that are more than EmbeddingCollectionOptions::table_memory are in files, and caches have
/// the hot ones, one cache for all pieces whose rows have one shape.
class ShardTables {
 public:
  /// Where a piece is.
  struct CachedPiece {
    std::size_t cache = 0;
    std::uint64_t first_row = 0;  ///< of the piece, among the rows of the cache
  };

  ShardTables() = default;
  ShardTables(const CollectionFacts& facts, MemoryKind kind);

  /// Copies all rows and states of the same pieces from other memory, in the order of the collection's stream.
  void copy(const ShardTables& from, const CollectionFacts& facts);

  [[nodiscard]] std::size_t size() const { return tables_.size(); }
  [[nodiscard]] bool on_device() const { return kind_ == MemoryKind::device; }
  /// The rows of piece i, or the slots of its cache: as kernels take them.
  [[nodiscard]] kernels::EmbeddingTable table(std::size_t i) const;
  /// Of what table(i) is.
  [[nodiscard]] float* state(std::size_t i) const;
  /// Values of state per row of piece i.
  [[nodiscard]] std::size_t state_width(std::size_t i) const { return state_widths_[i]; }
  /// Bytes of rows and state, wherever they are.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

  /// Empty unless rows are cached.
  [[nodiscard]] std::span<const std::unique_ptr<RowCache>> caches() const { return caches_; }
  [[nodiscard]] const CachedPiece& cached(std::size_t i) const { return cached_[i]; }
  [[nodiscard]] RowCache& cache(std::size_t i) const { return *caches_[cached_[i].cache]; }
  /// Changes whenever a row may have come into another slot.
  [[nodiscard]] std::uint64_t generation() const;

 private:
  void place_in_memory(const CollectionFacts& facts);
  void place_in_caches(const CollectionFacts& facts);

  MemoryKind kind_ = MemoryKind::host;
  std::size_t bytes_ = 0;
  TableBlock memory_;
  std::vector<kernels::EmbeddingTable> tables_;
  std::vector<float*> states_;
  std::vector<std::size_t> state_widths_;
  std::vector<std::unique_ptr<RowCache>> caches_;
  std::vector<CachedPiece> cached_;
};

/// The stream and the scratch memory of kernels on a device.
struct DeviceWork {
  Stream stream;
  kernels::device::Workspace workspace;
};

/// Pieces that one call of a kernel handles: on the host, or on a device if a DeviceWork is passed.
class PieceGroup {
 public:
  /// `tables` outlive the group.
  PieceGroup(kernels::Pooling pooling, std::vector<std::size_t> pieces, const ShardTables& tables);

  [[nodiscard]] const std::vector<std::size_t>& pieces() const { return pieces_; }
  /// lookups(i) and output(i) give the lookups and the output of piece i.
  template <typename Lookups, typename Output>
  void look_up(kernels::IndexType type, std::size_t bags, const Lookups& lookups, const Output& output,
               DeviceWork* device) {
    gather(lookups);
    outputs_.clear();
    for (const std::size_t i : pieces_) outputs_.push_back(output(i));
    if (device != nullptr) {
      return kernels::device::embedding_bag_forward(tables_, lookups_, type, bags, outputs_, options(), nullptr,
                                                    device->workspace, device->stream);
    }
    kernels::embedding_bag_forward(tables_, lookups_, type, bags, outputs_, options());
  }
  template <typename Lookups, typename Gradient>
  void square(kernels::IndexType type, std::size_t bags, const Lookups& lookups, const Gradient& gradient,
              kernels::EmbeddingWorkspace& workspace) {
    gather(lookups);
    gather_gradients(gradient);
    squares_.resize(pieces_.size());
    kernels::embedding_row_squares(tables_, lookups_, type, bags, gradients_, options(), workspace, squares_);
  }
  [[nodiscard]] std::vector<kernels::RowSquares>& squares() { return squares_; }
  template <typename Lookups, typename Gradient>
  void update(kernels::IndexType type, std::size_t bags, const Lookups& lookups, const Gradient& gradient,
              const kernels::RowUpdate& update, kernels::EmbeddingWorkspace& workspace) {
    gather(lookups);
    gather_gradients(gradient);
    kernels::embedding_bag_backward(tables_, lookups_, type, bags, gradients_, states_, update, options(), workspace,
                                    squares_);
  }
  /// The same on a device; `indices` is the number of indices in all lookups together, and squares(i) is where the sums
  /// of piece i are, null if it needs none.
  template <typename Lookups, typename Gradient, typename Squares>
  void square(kernels::IndexType type, std::size_t bags, const Lookups& lookups, std::size_t indices,
              const Gradient& gradient, const Squares& squares, DeviceWork& device) {
    gather(lookups);
    gather_gradients(gradient);
    gather_squares(squares);
    kernels::device::embedding_row_squares(tables_, lookups_, type, bags, indices, gradients_, options(), nullptr,
                                           device.workspace, device.stream, squares_on_device_);
  }
  template <typename Lookups, typename Gradient, typename Squares>
  void update(kernels::IndexType type, std::size_t bags, const Lookups& lookups, std::size_t indices,
              const Gradient& gradient, const kernels::RowUpdate& update, const Squares& squares, DeviceWork& device) {
    gather(lookups);
    gather_gradients(gradient);
    gather_squares(squares);
    kernels::device::embedding_bag_backward(tables_, lookups_, type, bags, indices, gradients_, states_, update,
                                            options(), nullptr, device.workspace, device.stream, squares_on_device_);
  }

 private:
  [[nodiscard]] kernels::EmbeddingOptions options() const { return {.pooling = pooling_, .indices_checked = true}; }
  template <typename Lookups>
  void gather(const Lookups& lookups) {
    gather_tables();
    lookups_.clear();
    for (const std::size_t i : pieces_) lookups_.push_back(lookups(i));
  }
  /// The memory of a cache grows.
  void gather_tables();
  template <typename Gradient>
  void gather_gradients(const Gradient& gradient) {
    gradients_.clear();
    for (const std::size_t i : pieces_) gradients_.push_back(gradient(i));
  }
  template <typename Squares>
  void gather_squares(const Squares& squares) {
    squares_on_device_.clear();
    for (const std::size_t i : pieces_) squares_on_device_.push_back(squares(i));
  }

  kernels::Pooling pooling_;
  std::vector<std::size_t> pieces_;
  const ShardTables* shards_;
  std::vector<kernels::EmbeddingTable> tables_;
  std::vector<float*> states_;
  std::vector<kernels::TableLookups> lookups_;
  std::vector<kernels::Pooled<float>> outputs_;
  std::vector<kernels::Pooled<const float>> gradients_;
  std::vector<kernels::RowSquares> squares_;  ///< filled by square(), else empty
  std::vector<double*> squares_on_device_;
};

}  // namespace tutti::detail
