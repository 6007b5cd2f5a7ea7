// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <climits>
#include <stdexcept>
#include <utility>

#include "messages_call.hpp"

namespace tutti::commbench {
namespace {

class MpiMessagesCall final : public MeasuredCall {
 public:
  MpiMessagesCall(MPI_Comm comm, std::vector<Transfer> transfers, Mode mode)
      : comm_(comm), transfers_(std::move(transfers)), mode_(mode), requests_(transfers_.size(), MPI_REQUEST_NULL) {
    if (mode_ == Mode::persistent) post();
  }
  ~MpiMessagesCall() override {
    for (MPI_Request& request : requests_)
      if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  }
  MpiMessagesCall(const MpiMessagesCall&) = delete;
  MpiMessagesCall& operator=(const MpiMessagesCall&) = delete;

  void run() override {
    if (mode_ == Mode::blocking && transfers_.size() == 1) {
      const Transfer& only = transfers_.front();
      check(only.is_recv ? MPI_Recv(only.data, count(only), MPI_BYTE, only.peer, only.tag, comm_, MPI_STATUS_IGNORE)
                         : MPI_Send(only.data, count(only), MPI_BYTE, only.peer, only.tag, comm_));
      return;
    }
    start();
    wait();
  }
  void start() override {
    if (mode_ == Mode::persistent)
      check(MPI_Startall(size(), requests_.data()));
    else
      post();
  }
  bool test() override {
    int done = 0;
    check(MPI_Testall(size(), requests_.data(), &done, MPI_STATUSES_IGNORE));
    return done != 0;
  }
  void wait() override { check(MPI_Waitall(size(), requests_.data(), MPI_STATUSES_IGNORE)); }

 private:
  static void check(int code) {
    if (code != MPI_SUCCESS) throw std::runtime_error(fmt::format("the host MPI failed with code {}", code));
  }
  static int count(const Transfer& one) { return static_cast<int>(one.bytes); }
  [[nodiscard]] int size() const { return static_cast<int>(requests_.size()); }

  /// Receives first: a message then finds its buffer.
  void post() {
    for (const bool recvs : {true, false})
      for (std::size_t i = 0; i < transfers_.size(); ++i)
        if (transfers_[i].is_recv == recvs) check(post(transfers_[i], &requests_[i]));
  }
  int post(const Transfer& one, MPI_Request* request) {
    const bool is_persistent = mode_ == Mode::persistent;
    if (one.is_recv)
      return (is_persistent ? MPI_Recv_init : MPI_Irecv)(one.data, count(one), MPI_BYTE, one.peer, one.tag, comm_,
                                                         request);
    return (is_persistent ? MPI_Send_init : MPI_Isend)(one.data, count(one), MPI_BYTE, one.peer, one.tag, comm_,
                                                       request);
  }

  MPI_Comm comm_;
  std::vector<Transfer> transfers_;
  Mode mode_;
  std::vector<MPI_Request> requests_;
};

}  // namespace

std::unique_ptr<MeasuredCall> make_mpi_messages_call(MPI_Comm comm, std::vector<Transfer> transfers, Mode mode,
                                                     std::size_t largest) {
  if (largest > static_cast<std::size_t>(INT_MAX))
    throw NotApplicable("messages above 2^31 - 1 bytes are not passed to MPI");
  return std::make_unique<MpiMessagesCall>(comm, std::move(transfers), mode);
}

}  // namespace tutti::commbench
