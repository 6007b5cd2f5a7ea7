// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

#include "communicator/execution.hpp"

namespace tutti::detail {

/// A send or a receive as it was asked for; a wildcard is MPI's.
struct PointToPoint {
  bool is_recv = false;
  const void* from = nullptr;
  void* to = nullptr;
  std::size_t bytes = 0;
  std::size_t unit = 1;  ///< bytes an element
  int peer = 0;
  int tag = 0;
  /// Match the message before it is received, so that one that is too long is an error of this call: MPICH gives the
  /// error of a posted receive to the handler of MPI_COMM_WORLD, which aborts. Only for calls that wait: a matched
  /// receive goes on in this library alone.
  bool matches_first = false;
};

/// Sends and receives that are posted together, on the private point-to-point communicator.
class PointToPointExecution final : public Execution {
 public:
  PointToPointExecution(std::shared_ptr<CommState> comm, std::string name, std::vector<PointToPoint> transfers,
                        std::chrono::nanoseconds timeout);

  [[nodiscard]] std::string name() const override { return name_; }

 private:
  bool begin() override;
  bool step() override;
  void cancel() noexcept override;
  [[nodiscard]] bool breaks_communicator() const noexcept override { return false; }

  [[nodiscard]] bool match(const PointToPoint& transfer, MPI_Request& request);

  std::string name_;
  std::vector<PointToPoint> transfers_;
  std::vector<MPI_Request> requests_;
  std::vector<std::byte> overlong_;  ///< takes a message that does not fit
  std::size_t next_ = 0;             ///< all before it are complete
};

}  // namespace tutti::detail
