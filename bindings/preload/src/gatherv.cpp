// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/gatherv.hpp>

#include "arguments.hpp"
#include "forms.hpp"

namespace {

using namespace tutti::preload;

struct Gatherv : Sides<Bytes, Blocks> {
  int root = 0;

  template <typename N, typename D>
  Reason take(const Member& member, const void* from, N sent, MPI_Datatype sent_type, void* to, const N* received,
              const D* displs, MPI_Datatype received_type, int target) {
    root = target;
    if (!has_root(member, target)) return Reason::arguments;
    if (!is_root(member, target)) return reason_of(take_side(send, from, sent, sent_type));
    if (!take_side(recv, to, received, displs, member.size(), received_type)) return Reason::arguments;
    return reason_of(take_or_in_place(send, from, sent, sent_type, block_at(to, displs[member.rank()], received_type)));
  }
  template <typename Make>
  auto with(const tutti::Communicator& ours, const Make& make) const {
    return make(ours, send.buffer(), recv.buffer(), recv.counts(), recv.displs(), root);
  }
  TUTTI_MPI_WAYS(gatherv)
};

}  // namespace

#define PARAMETERS(N, D)                                                                              \
  const void *send, N sent, MPI_Datatype sent_type, void *recv, const N received[], const D displs[], \
      MPI_Datatype received_type, int root
#define ARGUMENTS() send, sent, sent_type, recv, received, displs, received_type, root
TUTTI_MPI_COLLECTIVE(Gatherv, Gatherv, gatherv, PARAMETERS, ARGUMENTS)
#undef PARAMETERS
#undef ARGUMENTS
