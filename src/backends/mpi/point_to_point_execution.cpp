// SPDX-License-Identifier: BSD-3-Clause
#include "backends/mpi/point_to_point_execution.hpp"

#include <algorithm>

#include "backends/mpi/message.hpp"
#include "communicator/comm_state.hpp"
#include "core/mpi_call.hpp"

namespace tutti::detail {

PointToPointExecution::PointToPointExecution(std::shared_ptr<CommState> comm_state, std::string name,
                                             std::vector<PointToPoint> transfers, std::chrono::nanoseconds timeout)
    : Execution(std::move(comm_state), std::move(name), timeout, false),
      transfers_(std::move(transfers)),
      requests_(transfers_.size(), MPI_REQUEST_NULL),
      statuses_(transfers_.size()) {}

bool PointToPointExecution::begin() {
  for (std::size_t i = 0; i < transfers_.size(); ++i) {
    const PointToPoint& t = transfers_[i];
    if (t.is_recv) post_recv(t.to, t.bytes, t.peer, t.tag, comm().point_to_point, requests_[i]);
  }
  for (std::size_t i = 0; i < transfers_.size(); ++i) {
    const PointToPoint& t = transfers_[i];
    if (!t.is_recv) post_send(t.from, t.bytes, t.peer, t.tag, comm().point_to_point, requests_[i]);
  }
  return step();
}

bool PointToPointExecution::step() {
  int done = 0;
  const int code = MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, statuses_.data());
  if (code != MPI_SUCCESS) {
    for (const MPI_Status& status : statuses_)
      if (status.MPI_ERROR != MPI_SUCCESS && status.MPI_ERROR != MPI_ERR_PENDING)
        check_mpi(status.MPI_ERROR, name().c_str());
    check_mpi(code, name().c_str());
  }
  if (done == 0) return false;
  for (std::size_t i = 0; i < transfers_.size(); ++i) {
    if (!transfers_[i].is_recv) continue;
    status_ = {statuses_[i].MPI_SOURCE, statuses_[i].MPI_TAG,
               transfers_[i].peer == MPI_PROC_NULL ? 0 : received_bytes(statuses_[i]) / transfers_[i].unit};
  }
  return true;
}

void PointToPointExecution::cancel() noexcept {
  for (std::size_t i = 0; i < requests_.size(); ++i) drop_request(requests_[i], transfers_[i].is_recv);
}

}  // namespace tutti::detail
