// SPDX-License-Identifier: BSD-3-Clause
// The messages of a phase, as one rank sends and receives them.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <string>
#include <vector>

#include "fuzz/mpi/program.hpp"

namespace tutti::fuzz::mpi {

/// One end of a message, with a request of its own.
class End {
 public:
  End(const Message& message, int number, bool sends, MPI_Comm world);

  void start(int round);
  [[nodiscard]] MPI_Request& request() { return request_; }
  /// What is wrong with the data; "" if nothing is.
  [[nodiscard]] std::string verify(int round) const;
  void free();

 private:
  [[nodiscard]] std::byte expected(std::size_t i, int round) const {
    return static_cast<std::byte>((i * 29 + static_cast<std::size_t>(round * 71 + number_ * 7)) % 251);
  }
  const Message& message_;
  int number_;
  bool sends_;
  MPI_Comm world_;
  std::vector<std::byte> data_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

/// Waits for a message of rank `from` in one of the ways of MPI.
void receive_by(int way, int from, MPI_Comm world);
/// Sends that message.
void send_to(int to, MPI_Comm world);

}  // namespace tutti::fuzz::mpi
