// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "memory.hpp"
#include "pattern.hpp"
#include "point.hpp"
#include "shape.hpp"

namespace tutti::commbench {

/// The send and receive buffers of one point, in as many slots as iterations may follow one another. Made collectively
/// over `comm`, which is not needed for memory of the host.
class Buffers {
 public:
  Buffers(const Point& point, const Shape& shape, const World& world, const Pattern& pattern, Reuse reuse,
          std::size_t slots, const Communicator* comm = nullptr);

  [[nodiscard]] std::size_t slots() const { return slots_; }
  [[nodiscard]] std::byte* send(std::size_t slot) const;
  [[nodiscard]] std::byte* recv(std::size_t slot) const;

  /// Writes the data of an iteration, and over what the receive buffer held.
  void fill(std::size_t slot, std::uint64_t iteration);
  /// Maps all pages anew (host memory only); addresses change.
  void renew();
  /// What is wrong with the result of an iteration: the first element, or bytes beside the buffer that were written.
  [[nodiscard]] std::optional<std::string> find_fault(std::size_t slot, std::uint64_t iteration) const;

  /// Bytes of the slot of a point.
  [[nodiscard]] static std::size_t slot_bytes(const Point& point, const Shape& shape);

 private:
  static constexpr std::size_t page = 4096;
  static constexpr std::size_t guard = 64;
  [[nodiscard]] static std::size_t pitch(std::size_t bytes) { return (bytes + guard + page - 1) / page * page; }
  [[nodiscard]] std::size_t send_bytes() const { return shape_.send * point_.type.size(); }
  [[nodiscard]] std::size_t recv_bytes() const { return shape_.recv * point_.type.size(); }
  void write_recv(std::byte* to, std::uint64_t iteration) const;
  [[nodiscard]] std::optional<std::string> fault_in(const std::byte* got, std::uint64_t iteration) const;

  Point point_;
  const Shape& shape_;
  World world_;
  Pattern pattern_;
  const Communicator* comm_;
  Reuse reuse_;
  std::size_t slots_;
  Memory memory_;
  std::vector<std::byte> stage_;
};

/// Reads as much memory as the caches hold, so that nothing else stays in them.
class Evictor {
 public:
  explicit Evictor(std::size_t bytes) : memory_(nullptr, MemorySpace::host, bytes) {}
  void run();

 private:
  Memory memory_;
  std::uint64_t sum_ = 0;
};

}  // namespace tutti::commbench
