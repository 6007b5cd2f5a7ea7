// SPDX-License-Identifier: BSD-3-Clause
#include "agree.hpp"

#include <cstdint>
#include <tutti/collectives/allreduce.hpp>
#include <tutti/collectives/bcast.hpp>

namespace tutti::miniapps {

void agree(const Communicator& comm, const std::string& local_error) {
  std::int32_t first = local_error.empty() ? comm.size() : comm.rank();
  allreduce(comm, &first, 1, min);
  if (first == comm.size()) {
    return;
  }
  std::uint64_t length = local_error.size();
  bcast(comm, Buffer(&length, 1), first);
  std::string message = local_error;
  message.resize(length);
  bcast(comm, Buffer(reinterpret_cast<std::uint8_t*>(message.data()), message.size()), first);
  throw AgreedError(ErrorCode::invalid_argument, message);
}

}  // namespace tutti::miniapps
