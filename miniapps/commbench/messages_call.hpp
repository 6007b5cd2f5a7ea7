// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <tutti/communicator.hpp>
#include <tutti/mpi.hpp>
#include <tutti/options.hpp>
#include <vector>

#include "call.hpp"

namespace tutti::commbench {

/// A message of a call, with its memory.
struct Transfer {
  bool is_recv = false;
  int peer = 0;
  int tag = 0;
  std::byte* data = nullptr;
  std::size_t bytes = 0;
};

/// The messages of a point.
[[nodiscard]] std::vector<Transfer> transfers_of(const Arguments& arguments);

/// Messages that are posted together: a single one by send() or recv(), more by a tutti::Group. The communicator must
/// live as long. Local; throws tutti::Error.
[[nodiscard]] std::unique_ptr<MeasuredCall> make_messages_call(const Communicator& comm,
                                                               std::vector<Transfer> transfers, Mode mode,
                                                               MemorySpace memory, Stream stream);

/// The same by the host MPI, all of them nonblocking or persistent but a single blocking one. Throws NotApplicable, on
/// all ranks or none, where `largest`, the bytes of the longest message of any rank, is more than its calls take.
[[nodiscard]] std::unique_ptr<MeasuredCall> make_mpi_messages_call(MPI_Comm comm, std::vector<Transfer> transfers,
                                                                   Mode mode, std::size_t largest);

}  // namespace tutti::commbench
