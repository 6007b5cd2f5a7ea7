// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "backends/mpi/device_transfers.hpp"
#include "backends/mpi/short_messages.hpp"
#include "call/backend.hpp"
#include "call/execution.hpp"
#include "call/point_to_point.hpp"
#include "call/scratch.hpp"
#include "call/send_order.hpp"
#include "operation/signature.hpp"

namespace tutti::detail {

/// Sends and receives that are posted together, on the private point-to-point communicator. The caller's stream orders
/// transfers in device memory; a blocking call with a stream ends when all remaining work is on the stream. A
/// persistent one posts the same transfers at each start. name: a literal.
class PointToPointExecution final : public Execution {
 public:
  PointToPointExecution(std::shared_ptr<Context> comm, std::string_view name, PointToPoints&& transfers, CallKind kind,
                        const CallOptions& options);
  ~PointToPointExecution() override;

  /// Continues a call that the short way has begun, before the start. The receive, if any, is the first transfer, and
  /// matches first.
  void resume(const BegunMessages& begun) noexcept { begun_ = begun; }

  [[nodiscard]] std::string name() const override { return std::string(name_); }
  bool order_before(device::StreamHandle stream) override;

 private:
  bool begin() override;
  bool step() override;
  void cancel() noexcept override;
  [[nodiscard]] bool breaks_communicator() const noexcept override { return false; }

  void reset();
  void take_over();
  /// Gives transfers with a layout contiguous memory, and packs those that send.
  void pack();
  void begin_on_device();
  void post_recvs();
  /// Posts the transfers that may start now. Returns true if none is left.
  bool post_sends();
  [[nodiscard]] bool go_on();
  /// Returns true once transfer i is complete.
  [[nodiscard]] bool advance(std::size_t i);
  [[nodiscard]] bool test_send(std::size_t i);
  [[nodiscard]] bool match(std::size_t i);
  /// Posts the receive of a message that matched_ describes, or receives it if it is short.
  void take(std::size_t i, MPI_Message message);
  void complete(std::size_t i, const MPI_Status& status, std::size_t bytes);

  std::string_view name_;
  PointToPoints transfers_;
  Few<MPI_Request, 2> requests_;
  BegunMessages begun_{};
  MPI_Status matched_{};  ///< status of the message that was matched first
  std::size_t matched_bytes_ = 0;
  std::vector<std::byte> overlong_;  ///< receives a message that does not fit
  ScratchPool::Block packed_;        ///< memory of the transfers with a layout
  std::size_t next_ = 0;             ///< all earlier transfers are complete
  bool recvs_posted_ = false;
  bool sends_posted_ = false;
  std::vector<SendOrder::Ticket> tickets_;  ///< tickets of waiting sends; 0: posted. Empty if none had to wait
  Stream stream_;
  bool is_blocking_;
  bool is_used_ = false;                     ///< has been started before
  std::unique_ptr<DeviceTransfers> device_;  ///< present if a transfer is in device memory
  std::mutex
      mutex_;  ///< guards against the progress thread, which drives operations that a caller orders a stream after
};

}  // namespace tutti::detail
