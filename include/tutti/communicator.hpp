// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tutti/mpi_header.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <tutti/detail/export.hpp>
#include <tutti/topology.hpp>

namespace tutti {

namespace detail {
struct Context;
}

/// Check mode: `calls` compares each collective call on all ranks before it moves data, and finds buffers that change
/// or overlap while a call is outstanding; `bytes` compares all bytes of such buffers, not samples. See
/// docs/diagnosis.md.
enum class CheckMode : std::uint8_t { off = 0, calls = 1, bytes = 2 };

/// Which thread blocks of a GPU NCCL takes for a collective: as many as make it fast, fewer if that costs little, or
/// none where the copy engines can move the data.
enum class CtaPolicy : std::uint8_t { standard = 0, efficiency = 1, zero = 2 };

/// How prepare_device() sets up the NCCL communicator; 0: NCCL decides. Equal on all ranks. Counterpart: ncclConfig_t.
struct NcclOptions {
  int min_ctas = 0;                            ///< thread blocks of a collective, at least
  int max_ctas = 0;                            ///< at most: leaves the others to kernels that run beside it
  int nvls_ctas = 0;                           ///< those of NVLink SHARP; NCCL 2.27
  CtaPolicy cta_policy = CtaPolicy::standard;  ///< NCCL 2.27
  bool split_share = false;                    ///< split() also makes the parts' NCCL communicators, which share
                                               ///< resources: they need less memory, and one that fails ends all
};

/// Options of a communicator; equal on all ranks.
struct CommunicatorOptions {
  std::chrono::nanoseconds timeout{0};  ///< timeout of every call that sets none; 0: no timeout
  bool reproducible = false;            ///< makes every call reproducible; so does TUTTI_REPRODUCIBLE=1
  bool native_blocking = false;         ///< lets blocking calls block inside the host MPI's own collective. Only for
                                        ///< programs that have no nonblocking or persistent call outstanding then
  std::string name{};                   ///< name of the communicator in messages
  CheckMode check = CheckMode::off;     ///< the greater of this and TUTTI_CHECK counts
  NcclOptions nccl{};                   ///< of device memory; a part has those of its whole
};

/// A group of ranks that communicate. Its messages travel on private communicators and never match the caller's. Copies
/// no attribute and changes no error handler of the caller. Move-only. The factories, the splits and the destructor are
/// collective over the communicator; while an exception is under way the destructor leaves it to MPI_Finalize, which
/// frees what still exists; objects may be destroyed later. One thread at a time may use a communicator;
/// under MPI_THREAD_MULTIPLE, different communicators may be used concurrently. Counterpart: MPI_Comm.
class TUTTI_EXPORT Communicator {
 public:
  Communicator() noexcept;
  ~Communicator();
  Communicator(Communicator&&) noexcept;
  Communicator& operator=(Communicator&&) noexcept;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  /// Has the ranks of `comm` and does not keep its handle. Collective, blocking. Counterpart: MPI_Comm_dup without the
  /// attributes. Errors of every factory, on all ranks: mismatch, and mpi if MPI has no context left.
  [[nodiscard]] static Communicator duplicate(MPI_Comm comm, const CommunicatorOptions& options = {});
  /// Takes ownership of `comm` and frees it when the object is destroyed. Collective, blocking.
  [[nodiscard]] static Communicator adopt(MPI_Comm comm, const CommunicatorOptions& options = {});
  /// Refers to `comm`, which must stay valid as long as mpi_handle() is used. Collective, blocking.
  [[nodiscard]] static Communicator borrow(MPI_Comm comm, const CommunicatorOptions& options = {});

  [[nodiscard]] int rank() const;
  [[nodiscard]] int size() const;
  /// A handle for the caller's MPI calls. Local, but beyond 64 duplicates and parts the first call is collective.
  [[nodiscard]] MPI_Comm mpi_handle() const;
  [[nodiscard]] const Topology& topology() const;
  [[nodiscard]] const CommunicatorOptions& options() const;
  [[nodiscard]] bool valid() const noexcept { return state_ != nullptr; }

  /// Makes one communicator for each colour, its ranks ordered by key, then by rank. Gives an invalid Communicator to
  /// ranks that pass MPI_UNDEFINED as color. If this communicator is prepared for device memory and has the option
  /// nccl.split_share, the parts are prepared too: the call is then one on device memory, also in the order of such
  /// calls, waits for earlier ones on the device, and throws Error(nccl) on all ranks if NCCL fails on one; afterwards
  /// this communicator cannot be used. Collective, blocking. Counterparts: MPI_Comm_split, ncclCommSplit.
  [[nodiscard]] Communicator split(int color, int key = 0) const;
  /// Makes one communicator for the ranks of each node. Collective, blocking. Counterpart: MPI_Comm_split_type.
  [[nodiscard]] Communicator split_by_node() const;

  /// Prepares the communicator for device memory: all ranks agree on their facilities (NCCL and its version, whether
  /// the MPI takes device addresses, whether ranks share a GPU) and set NCCL up. The process's current device becomes
  /// this communicator's device for good. Optional: the first blocking or persistent call on device memory prepares by
  /// itself, and nonblocking calls go through host memory until then. Further calls return at once. Collective,
  /// blocking. Errors, the same on all ranks: not_built (a library without CUDA), mismatch (a rank without a device).
  /// Counterpart: ncclCommInitRankConfig.
  void prepare_device() const;
  /// Lists the facilities that calls on device memory use here and the reason why others are not used, one fact per
  /// line. Local.
  [[nodiscard]] std::string device_report() const;

  /// Makes a communicator of the ranks that live on, in their order, with the same options and an MPI handle of its
  /// own, after calls have failed with ErrorCode::peer_died. The ranks may differ in what they know of the dead; they
  /// agree here, also if one more ends meanwhile. Afterwards this communicator is of no use; outstanding requests of it
  /// fail. While the host MPI makes the handle, and in the factory that follows, one more death is not seen. Collective
  /// over the ranks that live on, blocking. Errors: not_supported where this rank cannot see the end of all others
  /// (on one node: more than 256 ranks, no /dev/shm; else: no TUTTI_HEARTBEAT), timeout. Counterpart:
  /// MPI_Comm_shrink (MPI 5), ncclCommShrink.
  [[nodiscard]] Communicator shrink() const;

  /// Ends all outstanding and later calls of this rank on this communicator with ErrorCode::aborted, except a call that
  /// waits inside the host MPI (native_blocking), and so those of other ranks once they wait in a collective over
  /// shared memory or messages. Over messages they hear of it if this thread may call MPI (MPI_THREAD_MULTIPLE, or the
  /// main thread). Local; may be called from any thread. Buffers of outstanding calls must stay valid until
  /// MPI_Finalize, as after a timeout, because messages may still reach them. Counterpart: ncclCommAbort.
  void abort(const std::string& reason = {}) noexcept;

  [[nodiscard]] const std::shared_ptr<detail::Context>& state() const;
  explicit Communicator(std::shared_ptr<detail::Context> state) noexcept;

 private:
  std::shared_ptr<detail::Context> state_;
};

}  // namespace tutti
