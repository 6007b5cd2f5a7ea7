// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/allgather.hpp>

#include "arguments.hpp"
#include "forms.hpp"

namespace {

using namespace tutti::preload;

struct Allgather : Sides<Bytes, Bytes> {
  template <typename N>
  Reason take(const Member& member, const void* from, N sent, MPI_Datatype sent_type, void* to, N received,
              MPI_Datatype received_type) {
    const auto ranks = static_cast<std::size_t>(member.size());
    const void* own = block_at(to, MPI_Count{received} * member.rank(), received_type);
    return reason_of(take_side(recv, to, received, received_type, ranks) &&
                     take_or_in_place(send, from, sent, sent_type, own));
  }
  template <typename Make>
  auto with(const tutti::Communicator& ours, const Make& make) const {
    return make(ours, send.buffer(), recv.buffer());
  }
  TUTTI_MPI_WAYS(allgather)
};

}  // namespace

#define PARAMETERS(N, D) \
  const void *send, N sent, MPI_Datatype sent_type, void *recv, N received, MPI_Datatype received_type
#define ARGUMENTS() send, sent, sent_type, recv, received, received_type
TUTTI_MPI_COLLECTIVE(Allgather, Allgather, allgather, PARAMETERS, ARGUMENTS)
#undef PARAMETERS
#undef ARGUMENTS
