// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <tutti/communicator.hpp>

#include "training/embedding/collection_facts.hpp"
#include "training/embedding/memory.hpp"

namespace tutti::detail {

/// Values of EmbeddingCollectionOptions::exchange_type, in the memory of the collection's vectors. Empty, and without
/// use, if that is float32.
class RoundedValues {
 public:
  explicit RoundedValues(const CollectionFacts& facts) : facts_(&facts) {}
  /// Makes room, undefined at first.
  void resize(std::size_t values);
  /// The same, registered (ValueMemory::resize_registered).
  void resize_registered(const Communicator& comm, std::size_t values);

  [[nodiscard]] const void* data() const { return memory_.data(); }
  [[nodiscard]] void* data() { return memory_.data(); }
  /// Rounds the first `count` values of `from`, to nearest: at once on the host, in stream order on a device.
  void take(const float* from, std::size_t count);
  /// Widens the first `count` values to `to`, likewise.
  void give(float* to, std::size_t count) const;

 private:
  const CollectionFacts* facts_;
  ValueMemory<std::byte> memory_;
};

}  // namespace tutti::detail
