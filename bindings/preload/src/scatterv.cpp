// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/scatterv.hpp>

#include "arguments.hpp"
#include "forms.hpp"

namespace {

using namespace tutti::preload;

struct Scatterv : Sides<Blocks, Bytes> {
  int root = 0;

  template <typename N, typename D>
  Reason take(const Member& member, const void* from, const N* sent, const D* displs, MPI_Datatype sent_type, void* to,
              N received, MPI_Datatype received_type, int source) {
    root = source;
    if (!has_root(member, source)) return Reason::arguments;
    if (!is_root(member, source)) return reason_of(take_side(recv, to, received, received_type));
    if (!take_side(send, from, sent, displs, member.size(), sent_type)) return Reason::arguments;
    return reason_of(
        take_or_in_place(recv, to, received, received_type, block_at(from, displs[member.rank()], sent_type)));
  }
  template <typename Make>
  auto with(const tutti::Communicator& ours, const Make& make) const {
    return make(ours, send.buffer(), send.counts(), send.displs(), recv.buffer(), root);
  }
  TUTTI_MPI_WAYS(scatterv)
};

}  // namespace

#define PARAMETERS(N, D)                                                                              \
  const void *send, const N sent[], const D displs[], MPI_Datatype sent_type, void *recv, N received, \
      MPI_Datatype received_type, int root
#define ARGUMENTS() send, sent, displs, sent_type, recv, received, received_type, root
TUTTI_MPI_COLLECTIVE(Scatterv, Scatterv, scatterv, PARAMETERS, ARGUMENTS)
#undef PARAMETERS
#undef ARGUMENTS
