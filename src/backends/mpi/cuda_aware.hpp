// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

namespace tutti::detail {

struct Context;

/// What an MPI says of itself.
struct CudaAnswer {
  std::optional<bool> says{};  ///< nothing: it has no query
  std::string from{};          ///< whom it was asked
};

/// Whether device memory may be sent to find out, by the answer of the MPI and TUTTI_CUDA_AWARE; else `why` not.
[[nodiscard]] bool may_probe(const CudaAnswer& answer, std::optional<bool> wanted, std::string& why);

/// Whether the MPI sends and receives device memory here: a query that says no is final; after yes, messages of 8 B and
/// 4 MiB to a peer on the node and to one off it, where there are such, must bring the right bytes; an MPI without a
/// query counts as unaware unless TUTTI_CUDA_AWARE=1 (a probe on an unaware one crashes), and TUTTI_CUDA_AWARE=0 always
/// wins. The same answer on all ranks; `why` says what it is from. Collective, blocking; the device must be current.
[[nodiscard]] bool probe_cuda_aware(const Context& comm, int device, std::string& why);

}  // namespace tutti::detail
