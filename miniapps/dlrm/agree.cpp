// SPDX-License-Identifier: BSD-3-Clause
#include "agree.hpp"

#include <cstdint>
#include <tutti/collectives/allreduce.hpp>
#include <tutti/collectives/bcast.hpp>

namespace dlrm {

void agree(const tutti::Communicator& comm, const std::string& local_error) {
  std::int32_t first = local_error.empty() ? comm.size() : comm.rank();
  tutti::allreduce(comm, &first, 1, tutti::min);
  if (first == comm.size()) {
    return;
  }
  std::uint64_t length = local_error.size();
  tutti::bcast(comm, tutti::Buffer(&length, 1), first);
  std::string message = local_error;
  message.resize(length);
  tutti::bcast(comm, tutti::Buffer(reinterpret_cast<std::uint8_t*>(message.data()), message.size()), first);
  throw AgreedError(tutti::ErrorCode::invalid_argument, message);
}

}  // namespace dlrm
