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

/// What the transfers of one call that are in device memory need beside messages: the order with the caller's stream,
/// and pinned memory that the messages go from and to where the MPI does not take device addresses now. The device is
/// current where work is put on a stream.
class DeviceTransfers {
 public:
  DeviceTransfers(const Context& comm, std::span<const PointToPoint> transfers, const Stream& caller, bool blocking);
  ~DeviceTransfers();
  DeviceTransfers(const DeviceTransfers&) = delete;
  DeviceTransfers& operator=(const DeviceTransfers&) = delete;

  [[nodiscard]] int device() const noexcept { return work_.device; }
  /// Orders the transfers after the caller's stream and starts the copies of what is sent.
  void begin();
  /// Whether messages use the caller's buffers.
  [[nodiscard]] bool is_direct() const noexcept { return is_direct_; }
  /// Whether what is sent can be sent, and, where direct, what is received can be written.
  [[nodiscard]] bool is_ready();

  [[nodiscard]] const void* send_address(std::size_t i) const;
  /// Room for a message of at most so many bytes.
  [[nodiscard]] void* recv_address(std::size_t i, std::size_t bytes);
  /// The message is there: it goes to the caller's buffer.
  void deliver(std::size_t i, std::size_t bytes);

  /// All messages are done, what is left is on the stream.
  void finish();
  [[nodiscard]] bool is_finished() const noexcept { return is_finished_; }
  /// Whether the caller's buffers can be used without a stream's order. After finish().
  [[nodiscard]] bool is_done();
  /// What follows on the stream finds the call done; false before finish().
  [[nodiscard]] bool order_before(const Stream& stream);
  /// Keeps the memory for ever: messages may still come.
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
