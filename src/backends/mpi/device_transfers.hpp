// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <tutti/options.hpp>
#include <vector>

#include "backends/device/work_stream.hpp"
#include "device/pool.hpp"

namespace tutti::detail {

struct Context;
struct PointToPoint;

/// Supports the transfers of one call that are in device memory: orders them with the caller's stream, and gives them
/// pinned memory if the MPI does not take device addresses now. Makes the device current before it puts work on a
/// stream.
class DeviceTransfers {
 public:
  DeviceTransfers(const Context& comm, std::span<const PointToPoint> transfers, const Stream& caller, bool blocking);
  ~DeviceTransfers();
  DeviceTransfers(const DeviceTransfers&) = delete;
  DeviceTransfers& operator=(const DeviceTransfers&) = delete;

  [[nodiscard]] int device() const noexcept { return work_.device; }
  /// Orders the transfers after the caller's stream and starts the copies of outgoing data.
  void begin();
  /// Returns true if messages use the caller's buffers.
  [[nodiscard]] bool is_direct() const noexcept { return is_direct_; }
  /// Returns true once outgoing data can be sent and, for direct transfers, incoming data can be written.
  [[nodiscard]] bool is_ready();

  [[nodiscard]] const void* send_address(std::size_t i) const;
  /// Memory for a message of at most this size, in bytes.
  [[nodiscard]] void* recv_address(std::size_t i, std::size_t bytes);
  /// Copies a message that has arrived to the caller's buffer.
  void deliver(std::size_t i, std::size_t bytes);

  /// Ends the transfers: all messages are done, and the remaining work is on the stream.
  void finish();
  [[nodiscard]] bool is_finished() const noexcept { return is_finished_; }
  /// Returns true once the caller's buffers can be used without a stream's order. Call it after finish().
  [[nodiscard]] bool is_done();
  /// Orders later work on the stream after the call; returns false before finish().
  [[nodiscard]] bool order_before(const Stream& stream);
  /// Keeps the memory for ever, because messages may still arrive.
  void abandon() noexcept;

 private:
  const Context& comm_;
  std::span<const PointToPoint> transfers_;
  Stream caller_;
  bool blocking_;
  WorkStream work_;
  bool is_direct_ = false;
  bool is_ready_ = false;
  bool is_finished_ = false;
  bool in_use_ = false;
  std::vector<device::Block> bounce_;
  device::Event begun_;
  device::Event ready_;
  device::Event done_;
};

}  // namespace tutti::detail
