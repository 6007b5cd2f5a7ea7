// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

namespace tutti::detail {

struct Context;

/// An MPI's answer on its support of device memory.
struct CudaAnswer {
  std::optional<bool> says{};  ///< empty: the MPI has no query
  std::string from{};          ///< source of the answer
};

/// Returns true if device memory may be sent as a probe, given the answer of the MPI and TUTTI_CUDA_AWARE; otherwise
/// sets `why` to the reason.
[[nodiscard]] bool may_probe(const CudaAnswer& answer, std::optional<bool> wanted, std::string& why);

/// Returns true if the MPI sends and receives device memory here. A query that says no is final. After yes, messages of
/// 8 B and 4 MiB to a peer on the node and to a peer on another node, if there are such peers, must deliver the right
/// bytes. An MPI without a query counts as unaware unless TUTTI_CUDA_AWARE=1, because a probe of an unaware MPI
/// crashes; TUTTI_CUDA_AWARE=0 always wins. The answer is the same on all ranks; `why` names its source. Collective,
/// blocking. The device must be current.
[[nodiscard]] bool probe_cuda_aware(Context& comm, int device, std::string& why);

}  // namespace tutti::detail
