// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "support/standin/nccl_state.hpp"

namespace tutti::standin {

/// The operations of one communicator that go to the device together: one piece of work, which begins when all its
/// streams have come to it, and after the earlier ones of its communicator. Captured, it may be done many times.
class Launch : public std::enable_shared_from_this<Launch> {
 public:
  Launch(NcclComm& comm, bool is_captured) : comm_(&comm), is_captured_(is_captured) {}

  void add(const Operation& operation, StreamHandle stream);
  /// What is wrong with the operations together; empty where nothing is.
  [[nodiscard]] std::string broken_rule() const;
  /// Takes its place in the order of launches.
  void take_ticket(bool hangs);
  /// Puts the work on the streams. The mutex of the state is not held.
  void enqueue();
  /// Leaves the order of launches, undone.
  void give_up() { finish(); }
  [[nodiscard]] bool has_collectives() const;
  [[nodiscard]] bool is_one_sided() const { return operations_.front().is_one_sided(); }
  /// Begins to connect to those that its communicator has not used before.
  void connect();
  [[nodiscard]] bool is_in_windows(const Operation& o) const;

 private:
  struct Header;
  /// Where a buffer is among all windows, counted from 1; 0: in none.
  [[nodiscard]] std::size_t place_of(const void* address) const;
  void note_places(const Operation& operation);
  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool step(std::size_t stream);
  [[nodiscard]] bool go_on();
  [[nodiscard]] bool is_next() const;
  [[nodiscard]] bool has_room() const;
  void begin();
  void expect_signals();
  [[nodiscard]] bool go_on_one_sided();
  [[nodiscard]] bool is_signalled() const;
  void send_piece(const Operation& operation);
  void exchange_headers();
  [[nodiscard]] bool headers_agree();
  void post(const Operation& operation);
  void deliver(const Operation& operation, const std::vector<std::size_t>& arrivals) const;
  void finish();

  NcclComm* comm_;
  bool is_captured_;
  bool hangs_ = false;
  bool is_running_ = false;   ///< the next of its communicator
  bool is_resident_ = false;  ///< on the device
  std::uint64_t ticket_ = 0;
  std::uint64_t order_ = 0;  ///< among the launches of all communicators; 0: captured
  std::uint64_t layout_ = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> before_{};  ///< launches of other communicators so far
  std::vector<Operation> operations_{};
  std::vector<StreamHandle> streams_{};
  std::vector<bool> arrived_{};
  std::vector<bool> released_{};
  std::unique_ptr<Exchange> headers_{};
  std::unique_ptr<Exchange> data_{};
  std::vector<std::vector<std::size_t>> arrivals_{};                    ///< of each operation
  std::vector<std::pair<MPI_Request, std::shared_ptr<Bytes>>> sent_{};  ///< pieces and signals
  std::vector<std::pair<int, std::uint64_t>> expected_{};               ///< signals of a rank, from the first one on
};

}  // namespace tutti::standin
