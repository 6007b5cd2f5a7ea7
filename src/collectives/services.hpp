// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <string>
#include <tutti/communicator.hpp>
#include <tutti/memory.hpp>
#include <vector>

#include "call/backoff.hpp"
#include "call/deferred_free.hpp"
#include "call/scratch.hpp"
#include "core/draft.hpp"
#include "core/file_limit.hpp"
#include "core/hash.hpp"
#include "core/mpi_call.hpp"
#include "device/pool.hpp"
#include "device/runtime.hpp"
#include "diagnosis/recorder.hpp"
#include "kernels/combine.hpp"
#include "kernels/convert.hpp"
#include "kernels/copy.hpp"

/// The internal services that src/training and libtutti-mpi may use in addition to the public headers: the headers
/// above (waiting, files that others read, memory that must outlive a failure, kept scratch memory, hashes, errors of
/// MPI, streams and pooled memory of a device, arithmetic on runs, copies) and the functions below. They hide the state
/// of a communicator, its plans, its backends and the cost model from training.
namespace tutti::detail::services {

/// Throws Error if the communicator cannot be used, because it is finalized, aborted, or broken by an earlier failure.
void check_usable(const Communicator& comm);
/// Throws Error(aborted) if the communicator was aborted. Cheap enough for a waiting loop.
void check_aborted(const Communicator& comm);
/// "communicator 'name', rank 1 of 4", for messages.
[[nodiscard]] std::string describe(const Communicator& comm);
/// A second handle on the same communicator, which keeps it alive. Local.
[[nodiscard]] Communicator share(const Communicator& comm);
/// The private MPI communicator of its collectives, for windows and for messages when the library's own calls have
/// failed.
[[nodiscard]] MPI_Comm private_mpi(const Communicator& comm);
/// The number of such communicators that this process has, of all kinds: each takes a context of the host MPI.
[[nodiscard]] int private_communicators();
/// A nonblocking call whose way needs later calls of the library on each rank, where refuse_stalling() was called: on
/// all ranks alike, before anything is sent.
struct Stalling : Error {
  using Error::Error;
};
/// Refuses such calls from now on: for a caller whose program may wait in MPI calls that the library does not see.
/// Equal on all ranks. Local.
void refuse_stalling(const Communicator& comm);
/// A barrier of the host MPI that tests and yields. Unlike tutti::barrier, it serves one-sided operations while it
/// waits.
void mpi_barrier(const Communicator& comm);

/// Memory with one part per rank; every rank loads and stores all parts directly.
struct MappedParts {
  Allocation own{};                 ///< this rank's part
  std::vector<std::byte*> parts{};  ///< address of each rank's part in this process, by rank
};
/// Allocates `bytes` zeroed bytes per rank. Gives no parts, on all ranks, if some rank cannot access some part.
/// Collective, blocking.
[[nodiscard]] MappedParts allocate_mapped(const Communicator& comm, std::size_t bytes);

/// The cost model's prediction for an exchange of every rank with every other.
struct ExchangeSpeed {
  double latency = 0;  ///< time per other rank, without the time for the bytes, in seconds
  double rate = 0;     ///< rate at which one rank sends or receives, in bytes/s
};
[[nodiscard]] ExchangeSpeed predict_exchange(const Communicator& comm);

/// Waits on the host until the event is complete. All outstanding operations progress meanwhile.
void wait_for(const device::Event& event);
/// Waits on the host until all work that is on the stream now is done. All outstanding operations progress meanwhile.
void wait_for_stream(int device, device::StreamHandle stream);

struct DeviceRelease {
  int device = -1;
  void operator()(std::byte* memory) const;
};
using DeviceMemory = std::unique_ptr<std::byte, DeviceRelease>;
/// Allocates exactly `bytes` bytes on the current device, not from a pool. Calls CUDA, also to free the memory, only
/// while no NCCL work is in flight there, because CUDA may wait for the device, which would be a deadlock.
[[nodiscard]] DeviceMemory allocate_on_device(std::size_t bytes);

/// Whether NCCL registers device memory of allocate() on this communicator. Equal on all ranks.
[[nodiscard]] bool registers_device_memory(const Communicator& comm);

using TextRows = std::vector<std::vector<std::string>>;
/// Formats rows of text in columns as wide as their longest entry.
[[nodiscard]] std::string in_columns(const TextRows& rows);

}  // namespace tutti::detail::services
