// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/pool.hpp"
#include "training/embedding/batch_bags.hpp"

namespace tutti::detail {

/// A stream of the current device for copies beside the collection's own.
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

/// The bags of a slot's batch on the device, as BatchBags has them on the host: all of them in one block, which is
/// filled in pinned memory and copied at once. The copy waits for the last use of the block, and the collection's
/// stream for the copy; so batches of two slots are copied while others are computed.
class DeviceBags {
 public:
  DeviceBags(const CollectionFacts& facts, device::StreamHandle copies);
  /// Waits for all that uses the memory.
  ~DeviceBags();
  DeviceBags(const DeviceBags&) = delete;
  DeviceBags& operator=(const DeviceBags&) = delete;

  /// Waits for the last copy. Throws not_supported while the collection's stream is captured.
  void upload(const BatchBags& bags, std::size_t batch);
  /// What uses the batch is on the collection's stream.
  void note_use();

  [[nodiscard]] const kernels::TableLookups& all(std::size_t i) const { return all_[i].lookups; }
  [[nodiscard]] const kernels::TableLookups& own(std::size_t i) const { return own_[i].lookups; }
  /// Indices in all(i), own(i).
  [[nodiscard]] std::size_t all_indices(std::size_t i) const { return all_[i].indices; }
  [[nodiscard]] std::size_t own_indices(std::size_t i) const { return own_[i].indices; }
  /// Null where the rank does not divide means.
  [[nodiscard]] const float* counts(std::size_t t) const { return counts_[t]; }
  /// EmbeddingCollection::graph_key.
  [[nodiscard]] std::uint64_t key() const;

 private:
  struct Bags {
    kernels::TableLookups lookups;
    std::size_t indices = 0;
  };
  /// First finds the size of the block, then fills it.
  class Packer;
  void pack(const BatchBags& bags, Packer& packer);
  void make_room(std::size_t bytes);

  const CollectionFacts* facts_;
  device::StreamHandle copies_;
  device::Block pinned_;
  device::Block block_;
  std::uint64_t blocks_ = 0;  ///< so many so far
  std::size_t batch_ = 0;
  kernels::IndexType type_ = kernels::IndexType::int64;
  std::vector<Bags> all_;
  std::vector<Bags> own_;
  std::vector<const float*> counts_;
  device::Event uploaded_;
  device::Event used_;
  bool use_is_noted_ = true;
};

}  // namespace tutti::detail
