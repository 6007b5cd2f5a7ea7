// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/alltoallv.hpp>

#include "arguments.hpp"
#include "forms.hpp"

namespace {

using namespace tutti::preload;

struct Alltoallv : Sides<Blocks, Blocks> {
  /// Types: MPI_Datatype of all blocks, or one for each, with displacements in bytes.
  template <typename N, typename D, typename Types>
  Reason take(const Member& member, const void* from, const N* sent, const D* sent_displs, Types sent_type, void* to,
              const N* received, const D* received_displs, Types received_type) {
    if (!take_side(recv, to, received, received_displs, member.size(), received_type)) return Reason::arguments;
    if (from != MPI_IN_PLACE) return reason_of(take_side(send, from, sent, sent_displs, member.size(), sent_type));
    send = Blocks::in_place();
    return Reason::none;
  }
  template <typename Make>
  auto with(const tutti::Communicator& ours, const Make& make) const {
    return make(ours, send.buffer(), send.counts(), send.displs(), recv.buffer(), recv.counts(), recv.displs());
  }
  TUTTI_MPI_WAYS(alltoallv)
};

using Alltoallw = Alltoallv;

}  // namespace

#define PARAMETERS(N, D)                                                                                           \
  const void *send, const N sent[], const D sent_displs[], MPI_Datatype sent_type, void *recv, const N received[], \
      const D received_displs[], MPI_Datatype received_type
#define ARGUMENTS() send, sent, sent_displs, sent_type, recv, received, received_displs, received_type
TUTTI_MPI_COLLECTIVE(Alltoallv, Alltoallv, alltoallv, PARAMETERS, ARGUMENTS)
#undef PARAMETERS
#undef ARGUMENTS

#define PARAMETERS(N, D)                                                                               \
  const void *send, const N sent[], const D sent_displs[], const MPI_Datatype sent_type[], void *recv, \
      const N received[], const D received_displs[], const MPI_Datatype received_type[]
#define ARGUMENTS() send, sent, sent_displs, sent_type, recv, received, received_displs, received_type
TUTTI_MPI_COLLECTIVE(Alltoallw, Alltoallw, alltoallw, PARAMETERS, ARGUMENTS)
#undef PARAMETERS
#undef ARGUMENTS
