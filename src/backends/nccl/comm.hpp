// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <tutti/error.hpp>

#include "backends/nccl/table.hpp"

namespace tutti::detail {
struct CommState;
}

namespace tutti::detail::nccl {

/// One NCCL communicator over the ranks of a CommState, on one device of this process.
class Comm {
 public:
  /// Broadcast of the id, barrier, non-blocking initialisation, while MPI and all outstanding operations of the library
  /// go on; all ranks have it or none: then null, and `why` names the first rank that failed and NCCL's text.
  /// Collective over `comm`, blocking up to `timeout`. The device must be current.
  [[nodiscard]] static std::unique_ptr<Comm> create(const CommState& comm, const Table& table, int device,
                                                    std::chrono::nanoseconds timeout, std::string& why);
  /// Finalizes and destroys, after what is in flight is done; a communicator whose graphs live on is given up when the
  /// last of them ends. Local.
  ~Comm();
  Comm(const Comm&) = delete;
  Comm& operator=(const Comm&) = delete;

  [[nodiscard]] const Table& table() const noexcept;
  [[nodiscard]] CommHandle handle() const noexcept;
  [[nodiscard]] int device() const noexcept;

  /// A result of an NCCL call: polls while it is ncclInProgress, then throws Error(nccl) with NCCL's text where it
  /// failed. `what` names the call. Throws timeout after `timeout` (0: none).
  void check(Result result, const char* what, std::chrono::nanoseconds timeout);
  /// Throws Error(nccl) where an asynchronous error is known; cheap enough for waiting loops.
  void check_async();

  /// The operation that multiplies by a factor before it sums; made once a factor and type, freed with the
  /// communicator.
  [[nodiscard]] RedOp pre_multiplied_sum(DataType type, double factor);

  /// Registers memory of the library's allocator that a call uses, once; where NCCL cannot, nothing happens. Local.
  void use_registered(const void* address);

  /// A stream that is captured launches on this communicator: it stays until the graph is gone.
  void retain_by_graph(StreamHandle stream);
  [[nodiscard]] int live_graphs() const noexcept;

  /// From any thread: no further call. NCCL's abort happens here, or, where graphs live, when the last has ended, by
  /// collect().
  void abort() noexcept;
  [[nodiscard]] bool is_aborted() const noexcept;
  /// Does what had to wait for the end of graphs; called by the progress of the library.
  static void collect() noexcept;

 private:
  struct State;
  explicit Comm(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tutti::detail::nccl
