// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <tutti/communicator.hpp>

namespace dlrm {

struct FreeMemory {
  std::size_t of_rank = 0;  ///< the least that any rank may have, where those of a node share alike
  std::size_t of_all = 0;   ///< of_rank times the ranks
};

/// Memory that tables may take: what the system says is available, less a tenth for all else. Collective over `comm`;
/// blocking; equal on all ranks.
[[nodiscard]] FreeMemory free_memory(const tutti::Communicator& comm);

/// Throws AgreedError where what this rank and the others of its node are about to allocate is more than the node has
/// available: without this the system would kill the program in the middle of its work. Collective over `comm`;
/// blocking. Checks nothing where the system does not say what is available.
void check_memory(const tutti::Communicator& comm, std::size_t bytes);

}  // namespace dlrm
