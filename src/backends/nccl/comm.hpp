// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <tutti/error.hpp>

#include "backends/nccl/table.hpp"

namespace tutti::detail {
struct Context;
}

namespace tutti::detail::nccl {

struct CommBody;

/// One NCCL communicator over the ranks of a Context, on one device of this process.
///
/// Threads: launches are made by one thread at a time, which holds the launch lock of the device (device::Traffic);
/// what says so below is called under that lock. check_async(), live_graphs(), is_aborted() and abort() may be called
/// by any thread at any moment, also while another one is in check(): that one then throws `aborted`. Only the
/// destructor needs that no other thread uses the object.
class Comm {
 public:
  /// Broadcast of the id, barrier, non-blocking initialisation, while MPI and all outstanding operations of the library
  /// go on; all ranks have it or none: then null, and `why` names the first rank that failed and NCCL's text.
  /// Collective over `comm`, blocking up to `timeout` (0: without end), and as long again for a rank that does not
  /// answer. The device must be current. Counterpart: ncclCommInitRankConfig.
  [[nodiscard]] static std::unique_ptr<Comm> create(const Context& comm, const Table& table, int device,
                                                    std::chrono::nanoseconds timeout, std::string& why);
  /// Finalizes and destroys, after what is in flight is done; a communicator that does not come to rest in the time of
  /// create() is aborted, and one whose graphs live on is given up when the last of them ends. Local, without the
  /// launch lock. Counterparts: ncclCommFinalize, ncclCommDestroy.
  ~Comm();
  Comm(const Comm&) = delete;
  Comm& operator=(const Comm&) = delete;

  [[nodiscard]] const Table& table() const noexcept;
  [[nodiscard]] CommHandle handle() const noexcept;
  [[nodiscard]] int device() const noexcept;

  /// A result of an NCCL call: polls while it is ncclInProgress, and the host MPI goes on meanwhile; then throws
  /// Error(nccl) with NCCL's text where it failed. `what` names the call. Throws timeout after `timeout` (0: none), and
  /// aborted when another thread aborts. Under the launch lock: the next call has to wait for this one.
  void check(Result result, const char* what, std::chrono::nanoseconds timeout);
  /// Throws Error(nccl) where an asynchronous error is known, and aborted; cheap enough for waiting loops.
  void check_async();

  /// The operation that multiplies by a factor before it sums; made once a factor and type, freed with the
  /// communicator. Under the launch lock. Counterpart: ncclRedOpCreatePreMulSum.
  [[nodiscard]] RedOp pre_multiplied_sum(DataType type, double factor);

  /// Registers the device memory of the library's allocator that an address lies in, at its first use; it is
  /// deregistered before it is released. Where NCCL cannot, nothing happens. Throws aborted. Local. Under the launch
  /// lock, outside of captures. Counterpart: ncclCommRegister.
  void use_registered(const void* address);
  /// The same as a window of symmetric memory, since 2.27: the kernels of NCCL then read and write it on all ranks
  /// directly. False where NCCL has none or refuses. Collective over the communicator, with ranges of one size, aligned
  /// to 4096 bytes. Without the launch lock. Counterpart: ncclCommWindowRegister.
  [[nodiscard]] bool register_window(const void* address, std::chrono::nanoseconds timeout);

  /// A stream that is captured launches on this communicator: it stays until the graph is gone. Throws aborted. Under
  /// the launch lock.
  void retain_by_graph(StreamHandle stream);
  [[nodiscard]] int live_graphs() const noexcept;

  /// No further call is made. NCCL's abort happens here; or, where graphs live, when the last has ended, or, where
  /// another thread launches on the device, when that is over, by collect(). Not under the launch lock. Counterpart:
  /// ncclCommAbort.
  void abort() noexcept;
  [[nodiscard]] bool is_aborted() const noexcept;
  /// Does what had to wait for the end of graphs or launches; called by the progress of the library, and by
  /// launches that are not captured. Never waits.
  static void collect() noexcept;

 private:
  explicit Comm(std::shared_ptr<CommBody> body);
  std::shared_ptr<CommBody> body_;  ///< shared with what waits for the end of graphs
};

}  // namespace tutti::detail::nccl
