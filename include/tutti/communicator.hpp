// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <chrono>
#include <memory>
#include <string>
#include <tutti/detail/export.hpp>
#include <tutti/topology.hpp>

namespace tutti {

namespace detail {
struct Context;
}

/// Equal on all ranks.
struct CommunicatorOptions {
  std::chrono::nanoseconds timeout{0};  ///< of every call that names none; 0: none
  bool reproducible = false;            ///< of every call; TUTTI_REPRODUCIBLE=1 sets it too
  bool native_blocking = false;         ///< lets blocking calls block inside the host MPI's own collective. Only for
                                        ///< programs that have no nonblocking or persistent call outstanding meanwhile
  std::string name{};                   ///< used in messages
};

/// A group of ranks to communicate in. It owns two private duplicates of the MPI communicator (collectives and
/// point-to-point), so its messages never meet the caller's, and changes no error handler of the caller.
/// Move-only; the factories, split and the destructor are collective over the communicator. What is left when MPI is
/// finalized is freed then; the object may be destroyed later. One thread at a time may use a communicator;
/// different ones may be used concurrently under MPI_THREAD_MULTIPLE. Counterpart: MPI_Comm.
class TUTTI_EXPORT Communicator {
 public:
  Communicator() noexcept;
  ~Communicator();
  Communicator(Communicator&&) noexcept;
  Communicator& operator=(Communicator&&) noexcept;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  /// Works on a duplicate of `comm`; the caller's handle is not kept. Blocking. Counterpart: MPI_Comm_dup.
  [[nodiscard]] static Communicator duplicate(MPI_Comm comm, const CommunicatorOptions& options = {});
  /// Takes `comm` over and frees it at the end. Blocking.
  [[nodiscard]] static Communicator adopt(MPI_Comm comm, const CommunicatorOptions& options = {});
  /// Refers to `comm`, which must stay valid as long as mpi_handle() is used. Blocking.
  [[nodiscard]] static Communicator borrow(MPI_Comm comm, const CommunicatorOptions& options = {});

  [[nodiscard]] int rank() const;
  [[nodiscard]] int size() const;
  /// The duplicated, adopted or borrowed handle; free for the caller's own MPI calls.
  [[nodiscard]] MPI_Comm mpi_handle() const;
  [[nodiscard]] const Topology& topology() const;
  [[nodiscard]] const CommunicatorOptions& options() const;
  [[nodiscard]] bool valid() const noexcept { return state_ != nullptr; }

  /// The ranks of one colour, ordered by key, then rank; an invalid Communicator where color is MPI_UNDEFINED.
  /// Collective and blocking. Counterpart: MPI_Comm_split.
  [[nodiscard]] Communicator split(int color, int key = 0) const;
  /// The ranks that share this rank's node. Collective and blocking. Counterpart: MPI_Comm_split_type.
  [[nodiscard]] Communicator split_by_node() const;

  /// Prepares the communicator for device memory: all ranks agree on what they have (NCCL and its version, whether the
  /// MPI takes device addresses, several ranks on a GPU), and NCCL is set up. The device is the process's current one;
  /// it stays this communicator's. A blocking or persistent call on device memory does this by itself; a nonblocking
  /// one goes through host memory until it is done. Later calls return at once. Collective; blocking. Errors, the same
  /// on all ranks: not_built (a library without CUDA), mismatch (a rank without a device). Counterpart:
  /// ncclCommInitRankConfig.
  void prepare_device() const;
  /// What calls on device memory use here, and why not what they do not use; one line a fact. Local.
  [[nodiscard]] std::string device_report() const;

  /// Gives all outstanding and later calls of this rank on this communicator ErrorCode::aborted, but for a call that
  /// waits inside the host MPI (native_blocking). Local; from any thread. Buffers of calls that were under way must
  /// stay valid until MPI_Finalize, as after a timeout: messages may still reach them. Peers that wait for this rank
  /// fail by their timeout. Counterpart: ncclCommAbort.
  void abort(const std::string& reason = {}) noexcept;

  [[nodiscard]] const std::shared_ptr<detail::Context>& state() const;
  explicit Communicator(std::shared_ptr<detail::Context> state) noexcept;

 private:
  std::shared_ptr<detail::Context> state_;
};

}  // namespace tutti
