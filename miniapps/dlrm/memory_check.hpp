// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <tutti/communicator.hpp>

namespace dlrm {

/// Throws AgreedError where what this rank and the others of its node are about to allocate is more than the node has
/// available: without this the system would kill the program in the middle of its work. Collective over `comm`;
/// blocking. Checks nothing where the system does not say what is available.
void check_memory(const tutti::Communicator& comm, std::size_t bytes);

}  // namespace dlrm
