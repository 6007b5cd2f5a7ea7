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

namespace tutti::detail {

PointToPointExecution::PointToPointExecution(std::shared_ptr<Context> comm_state, std::string name,
                                             std::vector<PointToPoint> transfers, std::chrono::nanoseconds timeout,
                                             bool blocking, const Stream& stream)
    : Execution(std::move(comm_state), timeout, false),
      name_(std::move(name)),
      transfers_(std::move(transfers)),
      requests_(transfers_.size(), MPI_REQUEST_NULL) {
  const auto on_device = [](const PointToPoint& t) { return t.on_device; };
  if (std::any_of(transfers_.begin(), transfers_.end(), on_device))
    device_ = std::make_unique<DeviceTransfers>(comm(), transfers_, stream, blocking);
}

PointToPointExecution::~PointToPointExecution() = default;

bool PointToPointExecution::begin() {
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
  for (; next_ < requests_.size(); ++next_) {
    const PointToPoint& t = transfers_[next_];
    if (t.is_recv ? !recvs_posted_ : !tickets_.empty() && tickets_[next_] != 0) return false;
    if (t.matches_first && requests_[next_] == MPI_REQUEST_NULL && !match(next_)) return false;
    MPI_Status status{};
    if (!test_request(requests_[next_], status, "MPI_Test")) return false;
    if (t.is_recv) complete(next_, status);
  }
  return true;
}

void PointToPointExecution::complete(std::size_t i, const MPI_Status& status) {
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
  const std::size_t bytes = received_bytes(status);
  if (device_) device_->deliver(i, bytes);
  status_ = {status.MPI_SOURCE, status.MPI_TAG, bytes / t.unit};
}

/// Returns true once the message is here and its receive is posted.
bool PointToPointExecution::match(std::size_t i) {
  const PointToPoint& t = transfers_[i];
  int found = 0;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status{};
  check_mpi(MPI_Improbe(t.peer, t.tag, comm().point_to_point, &found, &message, &status), "MPI_Improbe");
  if (found == 0) return false;
  const std::size_t bytes = received_bytes(status);
  void* to = nullptr;
  if (bytes > t.bytes) {
    overlong_.resize(bytes);
    to = overlong_.data();
  } else {
    to = device_ ? device_->recv_address(i, bytes) : t.to;
  }
  post_matched_recv(to, bytes, message, requests_[i]);
  return true;
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
  if (device_) device_->abandon();
}

}  // namespace tutti::detail
