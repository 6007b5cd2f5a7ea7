// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/alltoallv.hpp>

#include "arguments.hpp"
#include "forms.hpp"

namespace {

using namespace tutti::preload;

struct Alltoallv {
  Blocks send{};
  Blocks recv{};
  bool is_in_place = false;

  /// Types: MPI_Datatype of all blocks, or one for each, with displacements in bytes.
  template <typename N, typename D, typename Types>
  Reason take(const Member& member, const void* from, const N* sent, const D* sent_displs, Types sent_type, void* to,
              const N* received, const D* received_displs, Types received_type) {
    is_in_place = from == MPI_IN_PLACE;
    if (!take_blocks(recv, to, received, received_displs, member, received_type)) return Reason::arguments;
    if (is_in_place)
      send = Blocks::in_place();
    else if (!take_blocks(send, from, sent, sent_displs, member, sent_type))
      return Reason::arguments;
    return Reason::none;
  }
  void hold() {
    send.hold();
    recv.hold();
  }
  void read() {
    send.read();
    if (is_in_place) recv.read();
  }
  void write() { recv.write(); }
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
