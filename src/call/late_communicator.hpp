// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>

namespace tutti::detail {

/// A private communicator that is made when it is first needed, because the host MPI has few contexts.
class LateCommunicator {
 public:
  explicit LateCommunicator(const char* purpose) : purpose_(purpose) {}
  LateCommunicator(const LateCommunicator&) = delete;
  LateCommunicator& operator=(const LateCommunicator&) = delete;

  /// Begins to make it with the ranks of `parent`, a private communicator without attributes; once. Takes its place in
  /// the order of calls on `parent`. Collective; does not block.
  void begin(MPI_Comm parent);
  /// Returns true once it is made. Does not block. Any thread. Throws Error(mpi) on all ranks, now and later, if the
  /// host MPI has no context left.
  [[nodiscard]] bool ready() { return made_.load(std::memory_order_acquire) != MPI_COMM_NULL || finish(); }
  /// Waits until it is made, yielding. Returns false if that took longer than `timeout`; 0: no timeout. Throws as
  /// ready().
  bool wait(std::chrono::nanoseconds timeout = {});
  /// Waits until it is made if its making was begun, or has failed.
  void settle() noexcept;
  /// The communicator; MPI_COMM_NULL until it is made.
  [[nodiscard]] MPI_Comm get() const noexcept { return made_.load(std::memory_order_acquire); }
  /// Frees it, if it was made.
  void free() noexcept;

 private:
  [[nodiscard]] bool finish();
  [[nodiscard]] bool test();

  const char* purpose_;
  std::mutex mutex_;
  std::atomic<MPI_Comm> made_{MPI_COMM_NULL};
  MPI_Comm coming_ = MPI_COMM_NULL;
  MPI_Request request_ = MPI_REQUEST_NULL;
  bool begun_ = false;
  std::string failure_;
};

/// The text and code of a communicator that the host MPI could not make.
[[noreturn]] void throw_no_communicator(const char* purpose, const std::string& reason);

/// The number of communicators that this process has made late and still holds.
[[nodiscard]] int late_communicators() noexcept;

/// The number of communicators of the host MPI that this process holds for the library, late ones among them.
[[nodiscard]] int private_communicators() noexcept;

/// Counts those that are not made late. change: how many more there are.
void count_private(int change) noexcept;

}  // namespace tutti::detail
