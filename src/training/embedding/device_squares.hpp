// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <tutti/communicator.hpp>
#include <vector>

#include "training/embedding/device_lookups.hpp"
#include "training/embedding/row_squares.hpp"

namespace tutti::detail {

/// The sums of squares of row gradients on a device, for pieces with divided columns: a value for each index, which is
/// the row's at its first one, so that their numbers are known without a look at the device.
class DeviceSquares {
 public:
  DeviceSquares(const Communicator& comm, const CollectionFacts& facts);

  /// Makes room for a batch. Waits for the collection's stream if it must grow. Not under capture.
  void prepare(const DeviceLookups& lookups, std::size_t batch);
  /// Places the values of all pieces for a batch that has room; of() and exchange() are about it from now on.
  void arrange(const DeviceLookups& lookups);
  /// The values of piece i; null if its columns are whole.
  [[nodiscard]] double* of(std::size_t i) const;
  /// As add_row_squares(), in the order of the collection's stream: of() has the totals afterwards. Collective;
  /// blocking as calls on device memory are.
  void exchange(const DeviceLookups& lookups);
  /// Changes whenever memory moves, for EmbeddingCollection::graph_key.
  [[nodiscard]] std::uint64_t generation() const { return generation_; }

 private:
  struct Messages {
    std::vector<std::size_t> counts{};
    std::vector<std::size_t> begins{};
    std::size_t total = 0;
  };
  struct Layout {
    Messages sent{};
    Messages arrived{};
  };
  [[nodiscard]] Layout layout(const DeviceLookups& lookups) const;
  void send(const DeviceLookups& lookups);
  void add(const DeviceLookups& lookups, Messages& arrived);
  [[nodiscard]] bool has_squares(std::size_t i) const;
  [[nodiscard]] double* arrived() const { return sent() + most_sent_; }
  [[nodiscard]] double* sent() const { return reinterpret_cast<double*>(block_.data()) + most_own_; }

  const Communicator* comm_;
  const CollectionFacts* facts_;
  std::vector<std::vector<SquareRoute>> routes_;  ///< to each rank
  device::Block block_;                           ///< own values, those sent, those arrived
  std::vector<std::size_t> places_;               ///< of each piece's own values
  std::size_t most_own_ = 0;
  std::size_t most_sent_ = 0;
  std::size_t most_arrived_ = 0;
  std::uint64_t generation_ = 0;
};

}  // namespace tutti::detail
