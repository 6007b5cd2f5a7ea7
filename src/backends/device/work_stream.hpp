// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <initializer_list>
#include <memory>
#include <tutti/options.hpp>

#include "device/pool.hpp"

namespace tutti::detail {

struct Context;

/// A stream from a pool; goes back at the end.
class StreamLease {
 public:
  explicit StreamLease(int device);
  ~StreamLease();
  StreamLease(const StreamLease&) = delete;
  StreamLease& operator=(const StreamLease&) = delete;
  [[nodiscard]] device::StreamHandle stream() const noexcept { return stream_; }
  /// It may never get on: nobody else gets it.
  void keep() noexcept { is_kept_ = true; }

 private:
  struct Pool;
  Pool* pool_;
  device::StreamHandle stream_ = nullptr;
  bool is_kept_ = false;
};

/// Where the copies of one operation go: what one waits for (a caller's stream, NCCL) must not hold up another.
struct WorkStream {
  int device = 0;
  device::StreamHandle stream = nullptr;
  std::shared_ptr<StreamLease> lease{};
};

/// The device is the communicator's, else that of the first of the addresses that is on one, else the current one.
[[nodiscard]] WorkStream work_stream(const Context& comm, std::initializer_list<const void*> addresses);

/// The work on `work` waits for what is on the caller's stream now; nothing to do without one. `event` is used for it.
void follow(const WorkStream& work, const Stream& caller, device::Event& event);
/// What follows on the caller's stream waits for the event.
void precede(const Stream& caller, const device::Event& event);

/// Whether a call that is ordered on that stream may return before its communication is done: the progress thread goes
/// on with it, and the device's streams can wait for a word that the host writes.
[[nodiscard]] bool returns_at_once(const Stream& caller, int device);

}  // namespace tutti::detail
