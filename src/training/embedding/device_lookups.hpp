// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "collectives/services.hpp"
#include "training/embedding/batch_lookups.hpp"

namespace tutti::detail {

/// A stream of the current device, for copies beside the work on the collection's own stream.
class CopyStream {
 public:
  CopyStream();
  ~CopyStream();
  CopyStream(const CopyStream&) = delete;
  CopyStream& operator=(const CopyStream&) = delete;
  [[nodiscard]] device::StreamHandle handle() const { return handle_; }

 private:
  device::StreamHandle handle_;
};

/// A copy on the device of one batch's BatchLookups: all bags in one block, which is filled in pinned memory and copied
/// at once. The copy waits for the last use of the block, and the collection's stream waits for the copy, so one slot's
/// batch is copied while another slot's is computed.
class DeviceLookups {
 public:
  DeviceLookups(const CollectionFacts& facts, device::StreamHandle copies);
  /// Waits until nothing uses the memory.
  ~DeviceLookups();
  DeviceLookups(const DeviceLookups&) = delete;
  DeviceLookups& operator=(const DeviceLookups&) = delete;

  /// Copies a batch, after waiting for the copy before. Throws not_supported while the collection's stream is captured.
  void upload(const BatchLookups& lookups, std::size_t batch);
  /// Notes that everything that uses the batch is on the collection's stream now.
  void note_use();

  [[nodiscard]] const kernels::TableLookups& all(std::size_t i) const { return all_[i].lookups; }
  [[nodiscard]] const kernels::TableLookups& own(std::size_t i) const { return own_[i].lookups; }
  /// The room for the indices of all(i), at least their number.
  [[nodiscard]] std::size_t all_indices(std::size_t i) const { return all_[i].indices; }
  /// Null unless the rank divides means.
  [[nodiscard]] const float* counts(std::size_t t) const { return counts_[t]; }
  /// EmbeddingCollection::graph_key.
  [[nodiscard]] std::uint64_t key() const;

 private:
  struct Packed {
    kernels::TableLookups lookups;
    std::size_t indices = 0;  ///< room for them
  };
  /// Finds the size of the block, and in a second pass fills it.
  class Packer;
  void pack(const BatchLookups& lookups, Packer& packer);
  void make_room(std::size_t bytes);

  const CollectionFacts* facts_;
  device::StreamHandle copies_;
  device::Block pinned_;
  device::Block block_;
  std::uint64_t blocks_ = 0;  ///< allocated so far
  std::size_t batch_ = 0;
  kernels::IndexType type_ = kernels::IndexType::int64;
  std::vector<bool> one_each_;  ///< [piece] whether each bag has one index
  std::vector<Packed> all_;
  std::vector<Packed> own_;
  std::vector<const float*> counts_;
  device::Event uploaded_;
  device::Event used_;
  bool use_is_noted_ = true;
};

}  // namespace tutti::detail
