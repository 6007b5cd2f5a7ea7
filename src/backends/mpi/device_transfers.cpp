// SPDX-License-Identifier: BSD-3-Clause
#include "backends/mpi/device_transfers.hpp"

#include "backends/device/retired.hpp"
#include "backends/mpi/point_to_point_execution.hpp"
#include "call/context.hpp"
#include "call/deferred_free.hpp"
#include "device/traffic.hpp"

namespace tutti::detail {
namespace {

WorkStream stream_of(const Context& comm, std::span<const PointToPoint> transfers) {
  for (const PointToPoint& t : transfers)
    if (t.on_device) return work_stream(comm, {t.is_recv ? t.to : t.from});
  return work_stream(comm, {});
}

}  // namespace

DeviceTransfers::DeviceTransfers(const Context& comm, std::span<const PointToPoint> transfers, const Stream& caller,
                                 bool blocking)
    : comm_(comm),
      transfers_(transfers),
      caller_(caller),
      blocking_(blocking),
      work_(stream_of(comm, transfers)),
      bounce_(transfers.size()) {}

DeviceTransfers::~DeviceTransfers() {
  if (in_use_) retire_later(std::move(done_), std::move(bounce_));
}

void DeviceTransfers::begin() {
  sweep_retired();
  in_use_ = true;
  follow(work_, caller_, begun_);
  is_direct_ = blocking_ && comm_.device && comm_.device->cuda_aware && device::Traffic::of(work_.device).is_idle();
  if (!is_direct_) {
    device::Pool& pool = device::Pool::of(MemoryKind::pinned, work_.device);
    for (std::size_t i = 0; i < transfers_.size(); ++i) {
      const PointToPoint& t = transfers_[i];
      if (t.is_recv || !t.on_device) continue;
      bounce_[i] = pool.acquire(t.bytes);
      device::runtime()->copy(bounce_[i].data(), t.from, t.bytes, work_.stream);
    }
  }
  ready_.record(work_.device, work_.stream);
}

bool DeviceTransfers::is_ready() {
  is_ready_ = is_ready_ || ready_.is_complete();
  return is_ready_;
}

const void* DeviceTransfers::send_address(std::size_t i) const {
  const PointToPoint& t = transfers_[i];
  return t.on_device && !is_direct_ ? bounce_[i].data() : t.from;
}

void* DeviceTransfers::recv_address(std::size_t i, std::size_t bytes) {
  const PointToPoint& t = transfers_[i];
  if (!t.on_device || is_direct_ || bytes == 0) return t.to;
  bounce_[i] = device::Pool::of(MemoryKind::pinned, work_.device).acquire(bytes);
  return bounce_[i].data();
}

void DeviceTransfers::deliver(std::size_t i, std::size_t bytes) {
  const PointToPoint& t = transfers_[i];
  if (!t.on_device || is_direct_ || bytes == 0) return;
  device::runtime()->copy(t.to, bounce_[i].data(), bytes, work_.stream);
}

void DeviceTransfers::finish() {
  done_.record(work_.device, work_.stream);
  is_finished_ = true;
}

bool DeviceTransfers::is_done() {
  if (blocking_ && caller_.kind == StreamKind::cuda) {
    precede(caller_, done_);
    return true;
  }
  if (!done_.is_complete()) return false;
  in_use_ = false;
  return true;
}

bool DeviceTransfers::order_before(const Stream& stream) {
  if (!is_finished_) return false;
  precede(stream, done_);
  return true;
}

void DeviceTransfers::abandon() noexcept {
  work_.lease->keep();
  defer_free(std::move(bounce_));
  bounce_.clear();
  in_use_ = false;
  is_finished_ = false;
}

}  // namespace tutti::detail
