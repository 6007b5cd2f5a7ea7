// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "call/backend.hpp"
#include "call/execution.hpp"
#include "call/neighborhood.hpp"
#include "call/scratch.hpp"
#include "call/signature.hpp"

namespace tutti::detail {

/// Runs the schedule of a neighborhood collective over messages on the private communicator. Packs a block with a
/// layout just before its message, and unpacks one when its message is there; what a rank sends to itself is copied
/// from place to place.
class NeighborExecution final : public Execution {
 public:
  /// Takes its place in the order of calls on the communicator, which has a topology.
  NeighborExecution(ContextPtr comm, NeighborExchange&& exchange, CallKind kind, const CallOptions& options);
  ~NeighborExecution() override;

  [[nodiscard]] std::string name() const override { return std::string(exchange_.name); }

 private:
  /// A message of the schedule: its block, and where its bytes are.
  struct Message {
    const EdgeBlock* block = nullptr;
    std::byte* bytes = nullptr;
    int peer = 0;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  bool begin() override;
  bool step() override;
  void cancel() noexcept override;

  void plan();
  /// Gives each block that has a layout, and a message or a copy that needs it, contiguous memory.
  void place_packed();
  void post();
  void copy_own() const;
  void copy(const EdgeBlock& from, const EdgeBlock& to) const;
  [[nodiscard]] bool arrive();

  NeighborExchange exchange_;
  const schedules::Schedule& schedule_;
  int tag_;
  std::vector<Message> messages_;  ///< those received, then those sent
  std::size_t received_ = 0;       ///< number of messages that are received
  ScratchPool::Block packed_;
  std::byte* between_ = nullptr;  ///< for copies between two layouts
  std::size_t next_ = 0;          ///< all earlier messages are complete
  bool posted_ = false;           ///< before, the communicator for the messages may still be coming
};

}  // namespace tutti::detail
