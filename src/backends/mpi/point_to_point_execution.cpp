// SPDX-License-Identifier: BSD-3-Clause
#include "backends/mpi/point_to_point_execution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tutti/point_to_point.hpp>
#include <utility>

#include "backends/mpi/message.hpp"
#include "call/context.hpp"
#include "call/deferred_free.hpp"
#include "core/mpi_call.hpp"
#include "kernels/pack.hpp"

namespace tutti::detail {

PointToPointExecution::PointToPointExecution(std::shared_ptr<Context> comm_state, std::string_view name,
                                             PointToPoints&& transfers, CallKind kind, const CallOptions& options)
    : Execution(std::move(comm_state), options.timeout, kind == CallKind::persistent),
      name_(name),
      transfers_(std::move(transfers)),
      requests_(transfers_.size(), MPI_REQUEST_NULL),
      stream_(options.stream),
      is_blocking_(kind == CallKind::blocking) {
  const auto on_device = [](const PointToPoint& t) { return t.on_device; };
  if (std::any_of(transfers_.begin(), transfers_.end(), on_device))
    device_ = std::make_unique<DeviceTransfers>(comm(), transfers_, stream_, is_blocking_);
}

PointToPointExecution::~PointToPointExecution() { comm().scratch.release(std::move(packed_)); }

/// Prepares for a further start. The end of the former one may still be on a stream, so its memory is left to it.
void PointToPointExecution::reset() {
  next_ = 0;
  recvs_posted_ = false;
  sends_posted_ = false;
  tickets_.clear();
  overlong_.clear();
  status_ = {};
  if (device_) device_ = std::make_unique<DeviceTransfers>(comm(), transfers_, stream_, is_blocking_);
}

void PointToPointExecution::pack() {
  std::size_t bytes = 0;
  for (const PointToPoint& t : transfers_)
    if (t.layout) bytes += t.bytes;
  if (bytes == 0) return;
  if (packed_.bytes == 0) packed_ = comm().scratch.acquire(bytes);
  std::byte* at = packed_.data();
  for (PointToPoint& t : transfers_) {
    if (!t.layout) continue;
    t.from = t.to = at;
    if (!t.is_recv) kernels::pack(*t.layout, t.type.size(), t.laid_from, at);
    at += t.bytes;
  }
}

void PointToPointExecution::take_over() {
  recvs_posted_ = true;
  sends_posted_ = begun_.is_sent;
  const bool has_recv = transfers_.front().is_recv;
  if (begun_.is_sent) requests_[has_recv ? 1 : 0] = begun_.send;
  if (begun_.found == MPI_MESSAGE_NULL) return;
  matched_ = begun_.status;
  take(0, begun_.found);
}

bool PointToPointExecution::begin() {
  if (std::exchange(is_used_, true)) reset();
  if (begun_.is_sent || begun_.found != MPI_MESSAGE_NULL) {
    take_over();
    return step();
  }
  pack();
  if (device_) {
    begin_on_device();
  } else {
    post_recvs();
  }
  const bool must_wait = device_ || comm().send_order.has_waiting();
  if (must_wait) {
    tickets_.assign(transfers_.size(), 0);
    for (std::size_t i = 0; i < transfers_.size(); ++i)
      if (!transfers_[i].is_recv) tickets_[i] = comm().send_order.enter(transfers_[i].peer);
  }
  return step();
}

void PointToPointExecution::begin_on_device() {
  if (stream_.kind == StreamKind::cuda && device::runtime()->capture_of(stream_.handle) != 0)
    throw Error(ErrorCode::not_supported,
                fmt::format("{}, {}: the stream is under capture, which cannot contain messages; start it outside the "
                            "capture",
                            name(), comm().describe()));
  const device::Guard guard(device_->device());
  device_->begin();
  if (!device_->is_direct()) post_recvs();
}

void PointToPointExecution::post_recvs() {
  recvs_posted_ = true;
  for (std::size_t i = 0; i < transfers_.size(); ++i) {
    const PointToPoint& t = transfers_[i];
    if (!t.is_recv || t.matches_first) continue;
    void* to = device_ ? device_->recv_address(i, t.bytes) : t.to;
    post_recv(to, t.bytes, t.peer, t.tag, comm().point_to_point, requests_[i]);
  }
}

bool PointToPointExecution::post_sends() {
  if (device_ && !device_->is_ready()) return false;
  bool all = true;
  for (std::size_t i = 0; i < transfers_.size(); ++i) {
    const PointToPoint& t = transfers_[i];
    if (t.is_recv) continue;
    if (!tickets_.empty()) {
      if (tickets_[i] == 0) continue;
      if (!comm().send_order.is_first(t.peer, tickets_[i])) {
        all = false;
        continue;
      }
    }
    post_send(device_ ? device_->send_address(i) : t.from, t.bytes, t.peer, t.tag, comm().point_to_point, requests_[i]);
    if (!tickets_.empty()) comm().send_order.leave(t.peer, std::exchange(tickets_[i], 0));
    // While its message is under way, a look at a short send costs no time.
    if (t.bytes <= most_eager_bytes) (void)test_send(i);
  }
  return all;
}

bool PointToPointExecution::step() {
  if (!device_) return go_on();
  const std::lock_guard lock(mutex_);
  const device::Guard guard(device_->device());
  if (!device_->is_finished()) {
    if (!go_on()) return false;
    device_->finish();
  }
  return device_->is_done();
}

bool PointToPointExecution::go_on() {
  if (!recvs_posted_ && device_->is_ready()) post_recvs();
  if (!sends_posted_) sends_posted_ = post_sends();
  for (; next_ < requests_.size(); ++next_)
    if (!advance(next_)) return false;
  return true;
}

bool PointToPointExecution::test_send(std::size_t i) {
  MPI_Status ignored{};
  return requests_[i] == MPI_REQUEST_NULL || test_request(requests_[i], ignored, "MPI_Test");
}

bool PointToPointExecution::advance(std::size_t i) {
  const PointToPoint& t = transfers_[i];
  if (!t.is_recv) return (tickets_.empty() || tickets_[i] == 0) && test_send(i);
  if (!recvs_posted_) return false;
  if (t.matches_first) {
    if (requests_[i] == MPI_REQUEST_NULL && !match(i)) return false;
    MPI_Status ignored{};
    if (requests_[i] != MPI_REQUEST_NULL && !test_request(requests_[i], ignored, "MPI_Test")) return false;
    complete(i, matched_, matched_bytes_);
    return true;
  }
  MPI_Status status{};
  if (!test_request(requests_[i], status, "MPI_Test")) return false;
  complete(i, status, received_bytes(status));
  return true;
}

void PointToPointExecution::complete(std::size_t i, const MPI_Status& status, std::size_t bytes) {
  const PointToPoint& t = transfers_[i];
  if (t.peer == MPI_PROC_NULL) {
    status_ = {proc_null, any_tag, 0};
    return;
  }
  if (!overlong_.empty())
    throw Error(
        ErrorCode::truncated,
        fmt::format(
            "{}, {}: the message from rank {} with tag {} has {} bytes, but argument buffer has only {}; pass a "
            "longer buffer",
            name(), comm().describe(), status.MPI_SOURCE, status.MPI_TAG, overlong_.size(), t.bytes));
  if (device_) device_->deliver(i, bytes);
  if (t.layout) kernels::unpack(*t.layout, t.type.size(), t.to, bytes / t.type.size(), t.laid_to);
  status_ = {status.MPI_SOURCE, status.MPI_TAG, bytes / t.type.size()};
}

/// Returns true once the message is here and its receive is posted, or done if it is short.
bool PointToPointExecution::match(std::size_t i) {
  const PointToPoint& t = transfers_[i];
  if (begun_.found != MPI_MESSAGE_NULL) return true;  // received at once
  int found = 0;
  MPI_Message message = MPI_MESSAGE_NULL;
  check_mpi(MPI_Improbe(t.peer, t.tag, comm().point_to_point, &found, &message, &matched_), "MPI_Improbe");
  if (found == 0) return false;
  take(i, message);
  return true;
}

void PointToPointExecution::take(std::size_t i, MPI_Message message) {
  const PointToPoint& t = transfers_[i];
  const std::size_t bytes = matched_bytes_ = received_bytes(matched_);
  void* to = nullptr;
  if (bytes > t.bytes) {
    overlong_.resize(bytes);
    to = overlong_.data();
  } else {
    to = device_ ? device_->recv_address(i, bytes) : t.to;
  }
  if (bytes <= most_eager_bytes && !device_)
    receive_matched(to, bytes, message);
  else
    post_matched_recv(to, bytes, message, requests_[i]);
}

bool PointToPointExecution::order_before(device::StreamHandle stream) {
  if (!device_) return false;
  const std::lock_guard lock(mutex_);
  const device::Guard guard(device_->device());
  return phase() == Phase::active && device_->order_before(Stream(StreamKind::cuda, stream));
}

void PointToPointExecution::cancel() noexcept {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < requests_.size(); ++i) drop_request(requests_[i], transfers_[i].is_recv);
  for (std::size_t i = 0; i < tickets_.size(); ++i)
    if (tickets_[i] != 0) comm().send_order.leave(transfers_[i].peer, tickets_[i]);
  tickets_.clear();
  defer_free(std::move(overlong_));
  if (packed_.bytes > 0) defer_free(std::move(packed_.memory));
  packed_ = {};
  if (device_) device_->abandon();
}

}  // namespace tutti::detail
