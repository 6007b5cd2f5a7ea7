// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/allgatherv.hpp>

#include "arguments.hpp"
#include "forms.hpp"

namespace {

using namespace tutti::preload;

struct Allgatherv {
  Bytes send{};
  Blocks recv{};

  template <typename N, typename D>
  Reason take(const Member& member, const void* from, N sent, MPI_Datatype sent_type, void* to, const N* received,
              const D* displs, MPI_Datatype received_type) {
    if (!take_blocks(recv, to, received, displs, member, received_type)) return Reason::arguments;
    if (from == MPI_IN_PLACE)
      send = Bytes::in_place();
    else if (is_alias(from, block_at(to, displs[member.rank()], received_type), sent) ||
             !take_bytes(send, from, sent, sent_type))
      return Reason::arguments;
    return Reason::none;
  }
  void hold() {
    send.hold();
    recv.hold();
  }
  void read() {
    send.read();
    if (send.is_in_place()) recv.read();
  }
  void write() { recv.write(); }
  template <typename Make>
  auto with(const tutti::Communicator& ours, const Make& make) const {
    return make(ours, send.buffer(), recv.buffer(), recv.counts(), recv.displs());
  }
  TUTTI_MPI_WAYS(allgatherv)
};

}  // namespace

#define PARAMETERS(N, D)                                                                              \
  const void *send, N sent, MPI_Datatype sent_type, void *recv, const N received[], const D displs[], \
      MPI_Datatype received_type
#define ARGUMENTS() send, sent, sent_type, recv, received, displs, received_type
TUTTI_MPI_COLLECTIVE(Allgatherv, Allgatherv, allgatherv, PARAMETERS, ARGUMENTS)
