// SPDX-License-Identifier: BSD-3-Clause
#include "backends/mpi/point_to_point_execution.hpp"

#include <fmt/format.h>

#include <tutti/point_to_point.hpp>

#include "backends/mpi/message.hpp"
#include "communicator/comm_state.hpp"
#include "communicator/orphans.hpp"
#include "core/mpi_call.hpp"

namespace tutti::detail {

PointToPointExecution::PointToPointExecution(std::shared_ptr<CommState> comm_state, std::string name,
                                             std::vector<PointToPoint> transfers, std::chrono::nanoseconds timeout)
    : Execution(std::move(comm_state), timeout, false),
      name_(std::move(name)),
      transfers_(std::move(transfers)),
      requests_(transfers_.size(), MPI_REQUEST_NULL) {}

bool PointToPointExecution::begin() {
  for (std::size_t i = 0; i < transfers_.size(); ++i) {
    const PointToPoint& t = transfers_[i];
    if (t.is_recv && !t.matches_first) post_recv(t.to, t.bytes, t.peer, t.tag, comm().point_to_point, requests_[i]);
  }
  for (std::size_t i = 0; i < transfers_.size(); ++i) {
    const PointToPoint& t = transfers_[i];
    if (!t.is_recv) post_send(t.from, t.bytes, t.peer, t.tag, comm().point_to_point, requests_[i]);
  }
  return step();
}

bool PointToPointExecution::step() {
  for (; next_ < requests_.size(); ++next_) {
    const PointToPoint& t = transfers_[next_];
    if (t.matches_first && requests_[next_] == MPI_REQUEST_NULL && !match(t, requests_[next_])) return false;
    MPI_Status status{};
    if (!test_request(requests_[next_], status, "MPI_Test")) return false;
    if (!t.is_recv) continue;
    if (t.peer == MPI_PROC_NULL) {
      status_ = {proc_null, any_tag, 0};
      continue;
    }
    if (!overlong_.empty())
      throw Error(
          ErrorCode::truncated,
          fmt::format("{}, {}: the message from rank {} with tag {} has {} bytes, argument buffer only {}; pass a "
                      "longer buffer",
                      name(), comm().describe(), status.MPI_SOURCE, status.MPI_TAG, overlong_.size(), t.bytes));
    status_ = {status.MPI_SOURCE, status.MPI_TAG, received_bytes(status) / t.unit};
  }
  return true;
}

/// True when the message is here and its receive is posted.
bool PointToPointExecution::match(const PointToPoint& transfer, MPI_Request& request) {
  int found = 0;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status{};
  check_mpi(MPI_Improbe(transfer.peer, transfer.tag, comm().point_to_point, &found, &message, &status), "MPI_Improbe");
  if (found == 0) return false;
  const std::size_t bytes = received_bytes(status);
  if (bytes > transfer.bytes) overlong_.resize(bytes);
  post_matched_recv(overlong_.empty() ? transfer.to : overlong_.data(), bytes, message, request);
  return true;
}

void PointToPointExecution::cancel() noexcept {
  for (std::size_t i = 0; i < requests_.size(); ++i) drop_request(requests_[i], transfers_[i].is_recv);
  keep_for_messages(std::move(overlong_));
}

}  // namespace tutti::detail
