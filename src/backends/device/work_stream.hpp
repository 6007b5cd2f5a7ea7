// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <initializer_list>
#include <memory>
#include <tutti/options.hpp>

#include "device/pool.hpp"

namespace tutti::detail {

struct Context;

/// A stream from a pool; the destructor returns it.
class StreamLease {
 public:
  explicit StreamLease(int device);
  ~StreamLease();
  StreamLease(const StreamLease&) = delete;
  StreamLease& operator=(const StreamLease&) = delete;
  [[nodiscard]] device::StreamHandle stream() const noexcept { return stream_; }
  /// Abandons a stream that may be stuck, so that no other operation gets it.
  void keep() noexcept { is_kept_ = true; }

 private:
  struct Pool;
  Pool* pool_;
  device::StreamHandle stream_ = nullptr;
  bool is_kept_ = false;
};

/// The stream for the copies of one operation. Each operation has its own, so that a wait of one (for a caller's
/// stream, for NCCL) does not delay another.
struct WorkStream {
  int device = 0;
  device::StreamHandle stream = nullptr;
  std::shared_ptr<StreamLease> lease{};
};

/// Takes the communicator's device, else the device of the first address that is on one, else the current device.
[[nodiscard]] WorkStream work_stream(const Context& comm, std::initializer_list<const void*> addresses);

/// Another stream of the same device.
[[nodiscard]] WorkStream stream_beside(const WorkStream& other);

/// Makes `work` wait for the work that is on the caller's stream now, by means of `event`. Does nothing without a
/// caller's stream.
void follow(const WorkStream& work, const Stream& caller, device::Event& event);
/// Makes later work on the caller's stream wait for the event.
void precede(const Stream& caller, const device::Event& event);

/// Returns true if a call that is ordered on that stream may return before its communication is done, because the
/// progress thread drives it and the device's streams can wait for a word that the host writes.
[[nodiscard]] bool returns_at_once(const Stream& caller, int device);

}  // namespace tutti::detail
