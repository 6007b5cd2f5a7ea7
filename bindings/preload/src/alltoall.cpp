// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/alltoall.hpp>

#include "arguments.hpp"
#include "forms.hpp"

namespace {

using namespace tutti::preload;

struct Alltoall {
  Bytes send{};
  Bytes recv{};

  template <typename N>
  Reason take(const Member& member, const void* from, N sent, MPI_Datatype sent_type, void* to, N received,
              MPI_Datatype received_type) {
    const auto ranks = static_cast<std::size_t>(member.size());
    if (!take_bytes(recv, to, received, received_type, ranks)) return Reason::arguments;
    if (from == MPI_IN_PLACE)
      send = Bytes::in_place();
    else if (is_alias(from, to, sent) || !take_bytes(send, from, sent, sent_type, ranks))
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
    return make(ours, send.buffer(), recv.buffer());
  }
  TUTTI_MPI_WAYS(alltoall)
};

}  // namespace

#define PARAMETERS(N, D) \
  const void *send, N sent, MPI_Datatype sent_type, void *recv, N received, MPI_Datatype received_type
#define ARGUMENTS() send, sent, sent_type, recv, received, received_type
TUTTI_MPI_COLLECTIVE(Alltoall, Alltoall, alltoall, PARAMETERS, ARGUMENTS)
