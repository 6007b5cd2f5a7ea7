// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/mpi/mail.hpp"

#include <fmt/format.h>

#include <array>

namespace tutti::fuzz::mpi {
namespace {

constexpr int signal = 1000;  // a tag above those of the other messages

void poll(MPI_Request& request) {
  for (int flag = 0; flag == 0;) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
}

}  // namespace

End::End(const Message& message, int number, bool sends, MPI_Comm world)
    : message_(message), number_(number), sends_(sends), world_(world), data_(message.bytes) {
  const int count = static_cast<int>(data_.size());
  if (!message.is_persistent) return;
  if (sends)
    MPI_Send_init(data_.data(), count, MPI_BYTE, message.to, number, world, &request_);
  else
    MPI_Recv_init(data_.data(), count, MPI_BYTE, message.from, number, world, &request_);
}

void End::start(int round) {
  const int count = static_cast<int>(data_.size());
  for (std::size_t i = 0; i < data_.size(); ++i) data_[i] = sends_ ? expected(i, round) : std::byte{255};
  if (message_.is_persistent)
    MPI_Start(&request_);
  else if (sends_)
    MPI_Isend(data_.data(), count, MPI_BYTE, message_.to, number_, world_, &request_);
  else
    MPI_Irecv(data_.data(), count, MPI_BYTE, message_.from, number_, world_, &request_);
}

std::string End::verify(int round) const {
  for (std::size_t i = 0; i < data_.size(); ++i)
    if (data_[i] != expected(i, round))
      return fmt::format("byte {} of message {} from rank {} to rank {} is wrong", i, number_, message_.from,
                         message_.to);
  return "";
}

void End::free() {
  if (request_ != MPI_REQUEST_NULL) MPI_Request_free(&request_);
}

void receive_by(int way, int from, MPI_Comm world) {
  int word = 0;
  std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  if (way == 0) MPI_Recv(&word, 1, MPI_INT, from, signal, world, MPI_STATUS_IGNORE);
  if (way == 1) {
    MPI_Probe(from, signal, world, MPI_STATUS_IGNORE);
    MPI_Recv(&word, 1, MPI_INT, from, signal, world, MPI_STATUS_IGNORE);
  }
  if (way == 2) {
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Mprobe(from, signal, world, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(&word, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
  }
  if (way > 2) MPI_Irecv(&word, 1, MPI_INT, from, signal, world, &requests[0]);
  if (way == 3) MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  if (way == 4) poll(requests[0]);
  if (way == 5) {
    int index = 0;
    MPI_Waitany(2, requests.data(), &index, MPI_STATUS_IGNORE);
  }
}

void send_to(int to, MPI_Comm world) {
  const int word = 1;
  MPI_Send(&word, 1, MPI_INT, to, signal, world);
}

}  // namespace tutti::fuzz::mpi
