// SPDX-License-Identifier: BSD-3-Clause
#include "backends/mpi/short_messages.hpp"

#include "call/progress.hpp"
#include "core/mpi_call.hpp"

namespace tutti::detail {

bool ShortMessages::run() {
  if (send_ != nullptr && comm_.send_order.has_waiting()) return false;
  comm_.check_usable();
  ProgressEngine& engine = ProgressEngine::instance();
  engine.poll();
  try {
    post();
    constexpr int most_looks = 200;
    for (int left = comm_.topology.oversubscribed ? 1 : most_looks; left > 0; --left) {
      if (look()) return true;
      if (begun_.found != MPI_MESSAGE_NULL) return false;
      engine.poll();
    }
  } catch (...) {
    drop_request(begun_.send, false);
    comm_.keep_contexts();
    throw;
  }
  return false;
}

void ShortMessages::post() {
  is_received_ = recv_ == nullptr;
  if (send_ == nullptr) return;
  check_mpi(MPI_Isend(send_->from, static_cast<int>(send_->bytes), MPI_BYTE, send_->peer, send_->tag,
                      comm_.point_to_point, &begun_.send),
            "MPI_Isend");
  begun_.is_sent = true;
  // While its message is under way, a look at a short send costs no time.
  (void)is_send_done();
}

bool ShortMessages::look() {
  if (!is_received_) is_received_ = look_for_message();
  return is_received_ && is_send_done();
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
