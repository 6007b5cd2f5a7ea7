// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tutti/communicator.hpp>
#include <tutti/device.hpp>
#include <vector>

#include "call.hpp"
#include "replay/recording.hpp"

namespace tutti::commbench::replay {

/// A call of a trace with buffers, to be made again and again.
class ReplayedCall {
 public:
  ReplayedCall() = default;
  virtual ~ReplayedCall() = default;
  ReplayedCall(const ReplayedCall&) = delete;
  ReplayedCall& operator=(const ReplayedCall&) = delete;

  /// Writes data that depend on rank, index, and these numbers: one for a collective, or one for each message, equal
  /// on both sides.
  virtual void fill(std::span<const std::uint64_t> iterations) = 0;
  /// What is wrong with the result for the same numbers.
  [[nodiscard]] virtual std::optional<std::string> find_fault(std::span<const std::uint64_t> iterations) const = 0;
  [[nodiscard]] virtual MeasuredCall& call() = 0;
  /// Of its buffers.
  [[nodiscard]] virtual std::size_t bytes() const = 0;
};

/// What is the same for all calls of a replay.
struct CallOptions {
  MemorySpace memory = MemorySpace::host;
  std::string algorithm{};
  Stream stream{};
};

/// What a rank passes to a recorded collective, and what it must get. offsets: for each rank, where the block for this
/// one begins in its buffer.
[[nodiscard]] Shape shape_of(const Exchange& exchange, const World& world, const std::vector<std::size_t>& offsets);

/// Collective for persistent calls, else local. The communicator must live as long.
[[nodiscard]] std::unique_ptr<ReplayedCall> make_replayed(const Communicator& comm, const RecordedCall& call,
                                                          const std::vector<std::size_t>& offsets,
                                                          const CallOptions& options);

}  // namespace tutti::commbench::replay
