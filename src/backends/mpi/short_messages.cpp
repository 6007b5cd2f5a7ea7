// SPDX-License-Identifier: BSD-3-Clause
#include "backends/mpi/short_messages.hpp"

#include "backends/mpi/message.hpp"
#include "call/progress.hpp"
#include "core/mpi_call.hpp"

namespace tutti::detail {
namespace {

bool is_short(const PointToPoint& transfer) noexcept {
  return transfer.bytes <= most_eager_bytes && !transfer.on_device && !transfer.layout &&
         transfer.peer != MPI_PROC_NULL;
}

}  // namespace

bool ShortMessages::suits() const noexcept {
  if (recv_ != nullptr && !is_short(*recv_)) return false;
  return send_ == nullptr || (is_short(*send_) && !comm_.send_order.has_waiting());
}

bool ShortMessages::run() {
  if (!suits()) return false;
  comm_.check_usable();
  ProgressEngine::instance().poll();
  try {
    return run_some_looks();
  } catch (...) {
    drop_request(begun_.send, false);
    comm_.keep_contexts();
    throw;
  }
}

bool ShortMessages::run_some_looks() {
  constexpr int most_looks = 200;
  if (send_ != nullptr) {
    post_send(send_->from, send_->bytes, send_->peer, send_->tag, comm_.point_to_point, begun_.send);
    begun_.is_sent = true;
    // While its message is under way, a look at a short send costs no time.
    (void)is_send_done();
  }
  is_received_ = recv_ == nullptr;
  for (int left = comm_.topology.oversubscribed ? 1 : most_looks; left > 0; --left) {
    if (!is_received_) is_received_ = look_for_message();
    if (begun_.found != MPI_MESSAGE_NULL) return false;
    if (is_received_ && is_send_done()) return true;
    ProgressEngine::instance().poll();
  }
  return false;
}

bool ShortMessages::is_send_done() {
  MPI_Status ignored{};
  return begun_.send == MPI_REQUEST_NULL || test_request(begun_.send, ignored, "MPI_Test");
}

bool ShortMessages::look_for_message() {
  int found = 0;
  MPI_Message message = MPI_MESSAGE_NULL;
  check_mpi(MPI_Improbe(recv_->peer, recv_->tag, comm_.point_to_point, &found, &message, &begun_.status),
            "MPI_Improbe");
  if (found == 0) return false;
  const std::size_t bytes = received_bytes(begun_.status);
  if (bytes > recv_->bytes) {
    begun_.found = message;
    return false;
  }
  receive_matched(recv_->to, bytes, message);
  status_ = {begun_.status.MPI_SOURCE, begun_.status.MPI_TAG, recv_->unit == 1 ? bytes : bytes / recv_->unit};
  return true;
}

}  // namespace tutti::detail
