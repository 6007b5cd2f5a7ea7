// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <memory>
#include <mutex>
#include <tutti/options.hpp>
#include <vector>

#include "backends/mpi/device_transfers.hpp"
#include "call/execution.hpp"
#include "call/send_order.hpp"

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
  bool on_device = false;  ///< bytes in device memory
};

/// Sends and receives that are posted together, on the private point-to-point communicator. Those in device memory are
/// ordered on the caller's stream; a blocking call with a stream ends when what is left is on it.
class PointToPointExecution final : public Execution {
 public:
  PointToPointExecution(std::shared_ptr<CommState> comm, std::string name, std::vector<PointToPoint> transfers,
                        std::chrono::nanoseconds timeout, bool blocking, const Stream& stream);
  ~PointToPointExecution() override;

  [[nodiscard]] std::string name() const override { return name_; }
  bool order_before(device::StreamHandle stream) override;

 private:
  bool begin() override;
  bool step() override;
  void cancel() noexcept override;
  [[nodiscard]] bool breaks_communicator() const noexcept override { return false; }

  void begin_on_device();
  void post_recvs();
  /// Those that may go now; true when none is left.
  bool post_sends();
  [[nodiscard]] bool go_on();
  [[nodiscard]] bool match(std::size_t i);
  void complete(std::size_t i, const MPI_Status& status);

  std::string name_;
  std::vector<PointToPoint> transfers_;
  std::vector<MPI_Request> requests_;
  std::vector<std::byte> overlong_;  ///< takes a message that does not fit
  std::size_t next_ = 0;             ///< all before it are complete
  bool recvs_posted_ = false;
  bool sends_posted_ = false;
  std::vector<SendOrder::Ticket> tickets_;   ///< of sends that wait; 0: posted. Empty where none had to
  std::unique_ptr<DeviceTransfers> device_;  ///< where some transfer is in device memory
  std::mutex mutex_;                         ///< the progress thread goes on with what a caller orders a stream after
};

}  // namespace tutti::detail
