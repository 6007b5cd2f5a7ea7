// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <tutti/error.hpp>
#include <vector>

#include "backends/nccl/connections.hpp"
#include "backends/nccl/launcher.hpp"
#include "backends/nccl/table.hpp"

namespace tutti::detail {
struct Context;
}

namespace tutti::detail::nccl {

struct CommBody;

/// One NCCL communicator over the ranks of a Context, on one device of this process.
///
/// Threads: one thread at a time launches, and holds the launch lock of the device (device::Traffic); functions below
/// that say so are called under that lock. Any thread may call check_async(), live_graphs(), is_aborted() and abort()
/// at any time, even while another thread is in check(), which then throws `aborted`. Only the destructor requires that
/// no other thread uses the object.
class Comm {
 public:
  /// Time limits; 0: none.
  struct Limits {
    std::chrono::nanoseconds set_up;
    std::chrono::nanoseconds end;  ///< also of calls that make an operation for reductions
    int ranks_per_id = 256;        ///< that meet at the same process, from NCCL 2.23 on
  };

  /// Makes an NCCL communicator, by the context's NcclOptions: exchanges the ids, waits at a barrier and initialises
  /// without blocking, while MPI and all outstanding operations of the library progress. Either all ranks have it or
  /// none; if none, returns null, and `why` names the first rank that failed and NCCL's text. Collective over `comm`,
  /// blocking up to `limits.set_up`, and as long again for a rank that does not answer. The device must be current.
  /// Counterparts: ncclCommInitRankConfig, ncclCommInitRankScalable.
  [[nodiscard]] static std::unique_ptr<Comm> create(Context& comm, const Table& table, int device, const Limits& limits,
                                                    std::string& why);
  /// Whether parts made by split() share its resources.
  [[nodiscard]] bool shares() const noexcept;
  /// Makes the NCCL communicators of the parts of `whole`, whose one this is, without ids and barriers: this rank's is
  /// `part`, the ranks with the same color; null: this rank is in none. First waits until no NCCL work is in flight on
  /// the device. If NCCL fails on some rank, this communicator is aborted, because the split may hang in it, and all
  /// ranks throw Error(nccl), which names the rank. Collective over `whole`, blocking up to `limits.set_up`, and as
  /// long again for a rank that does not answer. Counterpart: ncclCommSplit.
  [[nodiscard]] std::unique_ptr<Comm> split(Context& whole, const Context* part, int color, const Limits& limits);
  /// Finalizes and destroys the communicator after the work in flight is done. A communicator that does not come to
  /// rest within `limits.end` of create() is aborted; one whose graphs live on is destroyed when the last of them ends.
  /// Local, without the launch lock. Counterparts: ncclCommFinalize, ncclCommDestroy.
  ~Comm();
  Comm(const Comm&) = delete;
  Comm& operator=(const Comm&) = delete;

  [[nodiscard]] const Table& table() const noexcept;
  /// For a call under the launch lock, right after require_usable(): an abort waits a while for such a call.
  [[nodiscard]] CommHandle handle() const noexcept;
  [[nodiscard]] int device() const noexcept;

  /// Checks the result of an NCCL call: polls while it is ncclInProgress, and drives the host MPI and the library's
  /// outstanding operations, then throws
  /// Error(nccl) with NCCL's text if the call failed. `what` names the call. Throws timeout after `timeout` (0: none),
  /// and aborted if another thread aborts. Call it under the launch lock, because the next call has to wait for this
  /// one.
  void check(Result result, const char* what, std::chrono::nanoseconds timeout);
  /// Throws aborted.
  void require_usable() const;
  /// Throws aborted, or Error(nccl) with NCCL's text, unless the result is success. `what` names the call.
  void require(Result result, const char* what) const;
  /// The state of the last call: in_progress, success or its failure. Throws aborted. Under the launch lock.
  [[nodiscard]] Result poll();
  /// Waits for calls that the launcher makes on a communicator that blocks, and drives the same meanwhile. After
  /// `timeout` (0: none) it aborts and throws timeout, once NCCL has given the calls up. `what` names them. Under the
  /// launch lock.
  void await(const Launcher::Job& job, const char* what, std::chrono::nanoseconds timeout);
  /// Whether NCCL's calls return when they are done, and wait in the caller's thread.
  [[nodiscard]] bool is_blocking() const noexcept;
  /// Under the launch lock.
  [[nodiscard]] Connections& connections() noexcept;

  /// Throws Error(nccl) if an asynchronous error is known, and aborted. Cheap enough for waiting loops. Asks nothing
  /// while another thread launches on the device. Without the launch lock.
  void check_async();

  /// The operation that multiplies by a factor before it sums; made once per factor and type, freed with the
  /// communicator. Under the launch lock. Counterpart: ncclRedOpCreatePreMulSum.
  [[nodiscard]] RedOp pre_multiplied_sum(DataType type, double factor);

  /// Registers the range of the library's device allocator that holds an address, at its first use; deregisters it
  /// before the range is released. Does nothing if NCCL cannot. Throws aborted. Local. Under the launch lock, outside
  /// captures. Counterpart: ncclCommRegister.
  void use_registered(const void* address);
  /// Registers a range as a window of symmetric memory, from NCCL 2.27 on; NCCL's kernels then read and write it on all
  /// ranks directly. Returns false if NCCL has no windows or refuses. Collective over the communicator, with ranges of
  /// equal size, aligned to 4096 bytes, after keep_windows() and under the same Allocations::Hold. Without the launch
  /// lock. Counterpart: ncclCommWindowRegister.
  [[nodiscard]] bool register_window(const void* address, std::chrono::nanoseconds timeout);

  /// The buffers that lie in such windows. Under the launch lock.
  [[nodiscard]] Windows windows_of(const void* input, const void* output) const;
  /// For each window that all ranks had when they last agreed, and for later ones: 1 if this rank still has it, else 0.
  /// Equally long on all ranks.
  [[nodiscard]] std::vector<int> windows() const;
  /// Deregisters the windows that some rank no longer has. NCCL places a window where this rank's list has room, and
  /// takes the place for that of all ranks, so the lists must be equal when a window is registered. `on_all` holds the
  /// least of windows() of all ranks. Under the launch lock, while no NCCL work is in flight.
  void keep_windows(const std::vector<int>& on_all);

  /// A place in a window. Windows have the same numbers on all ranks from one agreement on them to the next.
  struct Spot {
    std::uint64_t window = 0;
    std::uint64_t offset = 0;  ///< bytes from its start
  };
  /// The place of a buffer that lies in one window; nothing if it does not.
  [[nodiscard]] std::optional<Spot> spot_of(const void* address, std::size_t bytes) const;
  /// This rank's range of the window of that number, by which it keeps its name; 0: gone.
  [[nodiscard]] std::uint64_t range_of_window(std::uint64_t window) const;
  /// Null: gone.
  [[nodiscard]] WindowHandle window_of_range(std::uint64_t range) const;
  /// The reason why NCCL puts nothing into windows here; empty if it does. Once there are windows. Under the launch
  /// lock. Counterpart: ncclCommQueryProperties.
  [[nodiscard]] std::string why_no_puts() const;

  /// Keeps the communicator until the graph is gone, because a captured stream launches on it. Throws aborted. Under
  /// the launch lock.
  void retain_by_graph(StreamHandle stream);
  [[nodiscard]] int live_graphs() const noexcept;

  /// Prevents further calls and aborts. NCCL's abort happens here; if graphs live, when the last has ended; or, if
  /// another thread launches on the device, after that launch, by collect(), unless the communicator blocks. Not under
  /// the launch lock. Counterpart: ncclCommAbort.
  void abort() noexcept;
  /// Itself, or one that it shares resources with.
  [[nodiscard]] bool is_aborted() const noexcept;
  /// Only one that it shares resources with: NCCL has ended its work, and abort() is still to be called.
  [[nodiscard]] bool is_lost() const noexcept;
  /// Ends communicators that had to wait for the end of graphs or launches. Called by the library's progress and by
  /// launches that are not captured. Never waits.
  static void collect() noexcept;

 private:
  explicit Comm(std::shared_ptr<CommBody> body);
  std::shared_ptr<CommBody> body_;  ///< shared with the communicators that wait for the end of graphs
};

}  // namespace tutti::detail::nccl
