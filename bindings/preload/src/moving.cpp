// SPDX-License-Identifier: BSD-3-Clause
// The collectives that move data.
#include <tutti/collectives/allgather.hpp>
#include <tutti/collectives/allgatherv.hpp>
#include <tutti/collectives/alltoall.hpp>
#include <tutti/collectives/alltoallv.hpp>
#include <tutti/collectives/bcast.hpp>
#include <tutti/collectives/gather.hpp>
#include <tutti/collectives/gatherv.hpp>
#include <tutti/collectives/scatter.hpp>
#include <tutti/collectives/scatterv.hpp>

#include "arguments.hpp"
#include "forms.hpp"

namespace {

using namespace tutti::preload;

struct Bcast {
  Bytes buffer{};
  int root = 0;
  bool is_source = false;

  template <typename N>
  Reason take(const Member& member, void* address, N count, MPI_Datatype type, int from) {
    if (!has_root(member, from) || !take_side(buffer, address, count, type)) return Reason::arguments;
    root = from;
    is_source = is_root(member, from);
    return Reason::none;
  }
  void hold() { buffer.hold(); }
  void read() {
    if (is_source) buffer.read();
  }
  void write() {
    if (!is_source) buffer.write();
  }
  template <typename Make>
  auto with(const tutti::Communicator& ours, const Make& make) const {
    return make(ours, buffer.buffer(), root);
  }
  TUTTI_MPI_WAYS(bcast)
};

struct EvenMovement : Sides<Bytes, Bytes> {
  template <typename Make>
  auto with(const tutti::Communicator& ours, const Make& make) const {
    return make(ours, send.buffer(), recv.buffer());
  }
};

struct Allgather : EvenMovement {
  template <typename N>
  Reason take(const Member& member, const void* from, N sent, MPI_Datatype sent_type, void* to, N received,
              MPI_Datatype received_type) {
    const auto ranks = static_cast<std::size_t>(member.size());
    const void* own = block_at(to, MPI_Count{received} * member.rank(), received_type);
    return reason_of(take_side(recv, to, received, received_type, ranks) &&
                     take_or_in_place(send, from, sent, sent_type, own));
  }
  TUTTI_MPI_WAYS(allgather)
};

struct Alltoall : EvenMovement {
  template <typename N>
  Reason take(const Member& member, const void* from, N sent, MPI_Datatype sent_type, void* to, N received,
              MPI_Datatype received_type) {
    const auto ranks = static_cast<std::size_t>(member.size());
    return reason_of(take_side(recv, to, received, received_type, ranks) &&
                     take_or_in_place(send, from, sent, sent_type, to, ranks));
  }
  TUTTI_MPI_WAYS(alltoall)
};

struct RootedMovement : Sides<Bytes, Bytes> {
  int root = 0;

  template <typename Make>
  auto with(const tutti::Communicator& ours, const Make& make) const {
    return make(ours, send.buffer(), recv.buffer(), root);
  }
};

struct Gather : RootedMovement {
  template <typename N>
  Reason take(const Member& member, const void* from, N sent, MPI_Datatype sent_type, void* to, N received,
              MPI_Datatype received_type, int target) {
    root = target;
    if (!has_root(member, target)) return Reason::arguments;
    if (!is_root(member, target)) return reason_of(take_side(send, from, sent, sent_type));
    const auto ranks = static_cast<std::size_t>(member.size());
    const void* own = block_at(to, MPI_Count{received} * member.rank(), received_type);
    return reason_of(take_side(recv, to, received, received_type, ranks) &&
                     take_or_in_place(send, from, sent, sent_type, own));
  }
  TUTTI_MPI_WAYS(gather)
};

struct Scatter : RootedMovement {
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
  TUTTI_MPI_WAYS(scatter)
};

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

struct Allgatherv : Sides<Bytes, Blocks> {
  template <typename N, typename D>
  Reason take(const Member& member, const void* from, N sent, MPI_Datatype sent_type, void* to, const N* received,
              const D* displs, MPI_Datatype received_type) {
    if (!take_side(recv, to, received, displs, member.size(), received_type)) return Reason::arguments;
    return reason_of(take_or_in_place(send, from, sent, sent_type, block_at(to, displs[member.rank()], received_type)));
  }
  template <typename Make>
  auto with(const tutti::Communicator& ours, const Make& make) const {
    return make(ours, send.buffer(), recv.buffer(), recv.counts(), recv.displs());
  }
  TUTTI_MPI_WAYS(allgatherv)
};

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

#define PARAMETERS(N, D) void *buffer, N count, MPI_Datatype type, int root
#define ARGUMENTS() buffer, count, type, root
TUTTI_MPI_COLLECTIVE(Bcast, Bcast, bcast, PARAMETERS, ARGUMENTS)
#undef PARAMETERS
#undef ARGUMENTS

#define PARAMETERS(N, D) \
  const void *send, N sent, MPI_Datatype sent_type, void *recv, N received, MPI_Datatype received_type
#define ARGUMENTS() send, sent, sent_type, recv, received, received_type
TUTTI_MPI_COLLECTIVE(Allgather, Allgather, allgather, PARAMETERS, ARGUMENTS)
TUTTI_MPI_COLLECTIVE(Alltoall, Alltoall, alltoall, PARAMETERS, ARGUMENTS)
#undef PARAMETERS
#undef ARGUMENTS

#define PARAMETERS(N, D) \
  const void *send, N sent, MPI_Datatype sent_type, void *recv, N received, MPI_Datatype received_type, int root
#define ARGUMENTS() send, sent, sent_type, recv, received, received_type, root
TUTTI_MPI_COLLECTIVE(Gather, Gather, gather, PARAMETERS, ARGUMENTS)
TUTTI_MPI_COLLECTIVE(Scatter, Scatter, scatter, PARAMETERS, ARGUMENTS)
#undef PARAMETERS
#undef ARGUMENTS

#define PARAMETERS(N, D)                                                                              \
  const void *send, N sent, MPI_Datatype sent_type, void *recv, const N received[], const D displs[], \
      MPI_Datatype received_type, int root
#define ARGUMENTS() send, sent, sent_type, recv, received, displs, received_type, root
TUTTI_MPI_COLLECTIVE(Gatherv, Gatherv, gatherv, PARAMETERS, ARGUMENTS)
#undef PARAMETERS
#undef ARGUMENTS

#define PARAMETERS(N, D)                                                                              \
  const void *send, const N sent[], const D displs[], MPI_Datatype sent_type, void *recv, N received, \
      MPI_Datatype received_type, int root
#define ARGUMENTS() send, sent, displs, sent_type, recv, received, received_type, root
TUTTI_MPI_COLLECTIVE(Scatterv, Scatterv, scatterv, PARAMETERS, ARGUMENTS)
#undef PARAMETERS
#undef ARGUMENTS

#define PARAMETERS(N, D)                                                                              \
  const void *send, N sent, MPI_Datatype sent_type, void *recv, const N received[], const D displs[], \
      MPI_Datatype received_type
#define ARGUMENTS() send, sent, sent_type, recv, received, displs, received_type
TUTTI_MPI_COLLECTIVE(Allgatherv, Allgatherv, allgatherv, PARAMETERS, ARGUMENTS)
#undef PARAMETERS
#undef ARGUMENTS

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
