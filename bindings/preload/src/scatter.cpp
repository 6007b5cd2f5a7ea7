// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/scatter.hpp>

#include "arguments.hpp"
#include "forms.hpp"

namespace {

using namespace tutti::preload;

struct Scatter {
  Bytes send{};
  Bytes recv{};
  int root = 0;

  template <typename N>
  Reason take(const Member& member, const void* from, N sent, MPI_Datatype sent_type, void* to, N received,
              MPI_Datatype received_type, int source) {
    if (!has_root(member, source)) return Reason::arguments;
    root = source;
    const bool is_source = is_root(member, source);
    const auto ranks = static_cast<std::size_t>(member.size());
    if (is_source && !take_bytes(send, from, sent, sent_type, ranks)) return Reason::arguments;
    if (is_source && to == MPI_IN_PLACE)
      recv = Bytes::in_place();
    else if ((is_source && is_alias(to, block_at(from, MPI_Count{sent} * member.rank(), sent_type), received)) ||
             !take_bytes(recv, to, received, received_type))
      return Reason::arguments;
    return Reason::none;
  }
  void hold() {
    send.hold();
    recv.hold();
  }
  void read() { send.read(); }
  void write() { recv.write(); }
  template <typename Make>
  auto with(const tutti::Communicator& ours, const Make& make) const {
    return make(ours, send.buffer(), recv.buffer(), root);
  }
  TUTTI_MPI_WAYS(scatter)
};

}  // namespace

#define PARAMETERS(N, D) \
  const void *send, N sent, MPI_Datatype sent_type, void *recv, N received, MPI_Datatype received_type, int root
#define ARGUMENTS() send, sent, sent_type, recv, received, received_type, root
TUTTI_MPI_COLLECTIVE(Scatter, Scatter, scatter, PARAMETERS, ARGUMENTS)
