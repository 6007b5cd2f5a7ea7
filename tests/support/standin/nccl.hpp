// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "backends/nccl/table.hpp"
#include "support/standin/runtime.hpp"

namespace tutti::standin {

/// A stand-in for NCCL, for tests of the logic that uses it: records every call with its arguments, and does what NCCL
/// documents, over host memory: messages go by MPI, on a communicator of its own, as work of the stand-in streams. A
/// group is one piece of work for each of its communicators. The first launch of a collective, or of messages to a
/// peer, connects: it is in progress until the peers launch too. What is in progress comes to its stream only when
/// get_async_error has said so. A send ends only when its receive is there. What is put arrives at any moment, and
/// signals are counted by their sender. It holds callers to NCCL's rules: the same places of windows, the same order of
/// launches on all ranks, within a communicator and across them; no call while one is in progress; no split while work
/// is in flight; after the abort of one that shares resources nothing but an abort; no call on an aborted communicator;
/// no end of one while its graphs live or its work is in flight; memory that the device reaches. The device has room
/// for the work of one launch at a time, works of graphs apart, so works whose order differs between ranks would wait
/// for ever, and are refused; from 2.26 on they begin in the order of their launches where
/// NCCL_LAUNCH_ORDER_IMPLICIT=1 is set. A communicator that does not block launches from another thread. A broken rule
/// is a failure of the running test. Without MPI a communicator has one rank. It proves nothing about a GPU.
class Nccl {
 public:
  /// version: what get_version answers; functions that came later are null in the table. Collective over
  /// MPI_COMM_WORLD at the first one of a process, where MPI is initialised.
  Nccl(Runtime& runtime, int version);
  ~Nccl();
  Nccl(const Nccl&) = delete;
  Nccl& operator=(const Nccl&) = delete;

  /// Puts its table in place while it lives.
  void install();
  [[nodiscard]] const detail::nccl::Table& table() const;
  /// The calls but get_async_error and get_…_error, as "group_start()", "send(count=4, float32, peer=1)",
  /// "all_reduce(count=4, float32, sum)", "broadcast(count=4, uint8, root=0)", "all_gather(count=4, uint8, by ring)",
  /// "comm_init_rank_config(size=2, rank=0)".
  [[nodiscard]] const std::vector<std::string>& record() const;
  void clear_record();
  /// The configuration of the last init, and the name in it.
  [[nodiscard]] const detail::nccl::Config& last_config() const;
  [[nodiscard]] const std::string& last_name() const;
  /// Calls of get_async_error since then.
  [[nodiscard]] std::size_t questions() const;
  /// The thread that called the last operation.
  [[nodiscard]] std::thread::id last_thread() const;

  /// Each init, launch, window and finalize answers ncclInProgress for that many looks first.
  void set_in_progress(int looks);
  /// The next launches connect anew on all communicators. To be called on all ranks.
  void forget_connections();
  /// The next init of this process never ends, as where a peer does not come.
  void hang_init();
  /// Communicators that are being made fail, as where NCCL's own time limit is over.
  void end_inits();
  /// The next work launched by this process never ends, until its communicator is aborted; false: it does after all.
  void hang_work(bool hangs = true);
  /// The next call of that name ("all_reduce") returns this result.
  void fail_next(const std::string& name, detail::nccl::Result result);
  /// Calls `function` in the middle of the next launch, as another thread may run there. What it does on NCCL breaks
  /// NCCL's rule of one thread at a time.
  void within_next_launch(std::function<void()> function);
  /// What get_async_error answers from now on; success: what it finds.
  void set_async_error(detail::nccl::Result result);
  /// Communicators made and not destroyed or aborted.
  [[nodiscard]] int live_communicators() const;
  /// Registrations, windows and made operations of live communicators.
  [[nodiscard]] int live_registrations() const;
  /// Launches, other than captured ones, whose work is not done.
  [[nodiscard]] int in_flight() const;
  /// Ranks on one device fail at init, as in NCCL: before 2.30.3, or without NCCL_MULTI_RANK_GPU_ENABLE=1.
  void forbid_shared_devices();
  /// Collectives launched so far whose buffers both lie in windows.
  [[nodiscard]] int launched_in_windows() const;
  /// Collectives that copy engines have made: into windows, where the communicator or the call takes no thread blocks.
  [[nodiscard]] int copied() const;
  /// What the last collective with a configuration told the profiler.
  [[nodiscard]] std::uint64_t last_tag() const;
  /// NCCL has not that algorithm on these devices, or has it again.
  void set_missing(const std::string& algorithm, bool is_missing);
  /// Whether the communicators can put into windows, as a query of their properties answers.
  void set_host_rma(bool can);
  /// A broken rule is only written down.
  void expect_violations();
  [[nodiscard]] const std::vector<std::string>& violations() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tutti::standin
