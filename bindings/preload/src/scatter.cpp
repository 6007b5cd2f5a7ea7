// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/scatter.hpp>

#include "arguments.hpp"
#include "forms.hpp"

namespace {

using namespace tutti::preload;

struct Scatter : Sides<Bytes, Bytes> {
  int root = 0;

  template <typename N>
  Reason take(const Member& member, const void* from, N sent, MPI_Datatype sent_type, void* to, N received,
              MPI_Datatype received_type, int source) {
    root = source;
    if (!has_root(member, source)) return Reason::arguments;
    if (!is_root(member, source)) return reason_of(take_side(recv, to, received, received_type));
    const auto ranks = static_cast<std::size_t>(member.size());
    const void* own = block_at(from, MPI_Count{sent} * member.rank(), sent_type);
    return reason_of(take_side(send, from, sent, sent_type, ranks) &&
                     take_or_in_place(recv, to, received, received_type, own));
  }
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
#undef PARAMETERS
#undef ARGUMENTS
