// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

#include "backends/nccl/comm.hpp"
#include "device/runtime.hpp"

namespace tutti::detail {

struct CommState;

/// What a communicator knows of device memory once it is prepared for it. All but `device`, `stream` and the handle in
/// `nccl` are equal on all ranks.
struct DeviceSide {
  ~DeviceSide();

  int device = 0;                         ///< in this process
  device::StreamHandle stream = nullptr;  ///< the communicator's own
  bool kernels = false;                   ///< all ranks: reductions run on the device
  bool cuda_aware = false;                ///< all ranks: the MPI takes device addresses
  bool several_ranks = false;             ///< some device serves several ranks of this communicator
  bool registers = false;                 ///< all ranks: memory of the library's allocator is registered with NCCL
  int nccl_version = 0;                   ///< the lowest of all ranks; 0 where `nccl` is null
  std::unique_ptr<nccl::Comm> nccl{};     ///< null on all ranks where it cannot be used
  std::string report{};                   ///< for people: what is used, and why not what is not
};

/// Learns and agrees on all that device buffers need, and sets NCCL up, once; later calls return at once. The device is
/// that of `address`, or the current one. Collective over the communicator, blocking. Errors, the same on all ranks:
/// not_built, mismatch (a rank has no device, or another device than before).
void prepare_device(CommState& comm, const void* address);

}  // namespace tutti::detail
