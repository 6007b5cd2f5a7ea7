// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/alltoall.hpp>

#include "arguments.hpp"
#include "forms.hpp"

namespace {

using namespace tutti::preload;

struct Alltoall : Sides<Bytes, Bytes> {
  template <typename N>
  Reason take(const Member& member, const void* from, N sent, MPI_Datatype sent_type, void* to, N received,
              MPI_Datatype received_type) {
    const auto ranks = static_cast<std::size_t>(member.size());
    return reason_of(take_side(recv, to, received, received_type, ranks) &&
                     take_or_in_place(send, from, sent, sent_type, to, ranks));
  }
  template <typename Make>
  auto with(const tutti::Communicator& ours, const Make& make) const {
    return make(ours, send.buffer(), recv.buffer());
  }
  TUTTI_MPI_WAYS(alltoall)
};

}  // namespace

#define PARAMETERS(N, D) \
  const void *send, N sent, MPI_Datatype sent_type, void *recv, N received, MPI_Datatype received_type
#define ARGUMENTS() send, sent, sent_type, recv, received, received_type
TUTTI_MPI_COLLECTIVE(Alltoall, Alltoall, alltoall, PARAMETERS, ARGUMENTS)
#undef PARAMETERS
#undef ARGUMENTS
