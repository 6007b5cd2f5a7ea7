// SPDX-License-Identifier: BSD-3-Clause
// Neighborhood collectives. Blocks of neighbours that do not exist are empty for the library: nothing may be written
// there, and a copy of them would be.
#include <algorithm>
#include <tutti/collectives/neighborhood.hpp>

#include "arguments.hpp"
#include "forms.hpp"

namespace {

using namespace tutti::preload;

template <typename T>
using Few = tutti::detail::Few<T, 8>;

/// The blocks of one side; false where MPI refuses them. Types: the datatype of all blocks, or one for each.
template <typename N, typename D, typename Types>
bool take_blocks(Blocks& blocks, const void* address, const N* counts, const D* displs,
                 const std::vector<bool>& neighbors, Types types) {
  const std::size_t n = neighbors.size();
  if (n == 0) return true;
  if (counts == nullptr) return false;
  Few<MPI_Count> present(n);
  for (std::size_t i = 0; i < n; ++i) {
    if (counts[i] < 0) return false;
    present[i] = neighbors[i] ? static_cast<MPI_Count>(counts[i]) : 0;
  }
  return take_side(blocks, address, present.begin(), displs, static_cast<int>(n), types);
}

/// The same with one count, for blocks that follow one another.
template <typename N>
bool take_equal_blocks(Blocks& blocks, const void* address, N count, const std::vector<bool>& neighbors,
                       MPI_Datatype type) {
  const Few<N> counts(neighbors.size(), count);
  Few<MPI_Count> displs(neighbors.size());
  for (std::size_t i = 0; i < neighbors.size(); ++i)
    displs[i] = static_cast<MPI_Count>(i) * static_cast<MPI_Count>(count);
  return take_blocks(blocks, address, counts.begin(), displs.begin(), neighbors, type);
}

/// What a rank gives all its neighbours; nothing of it counts for a rank that has none.
template <typename N>
bool take_gift(Bytes& bytes, const void* address, N count, MPI_Datatype type, const std::vector<bool>& neighbors) {
  const bool is_alone = std::none_of(neighbors.begin(), neighbors.end(), [](bool exists) { return exists; });
  return is_alone || take_side(bytes, address, count, type);
}

struct NeighborGather : Sides<Bytes, Blocks> {
  template <typename Make>
  auto with(const tutti::Communicator& ours, const Make& make) const {
    return make(ours, send.buffer(), recv.buffer(), recv.counts(), recv.displs());
  }
  TUTTI_MPI_WAYS(neighbor_allgatherv)
};

struct NeighborAllgather : NeighborGather {
  template <typename N>
  Reason take(const Member& member, const void* from, N sent, MPI_Datatype sent_type, void* to, N received,
              MPI_Datatype received_type) {
    const auto& neighbors = member.neighbors();
    return reason_of(neighbors && take_gift(send, from, sent, sent_type, neighbors->destinations) &&
                     take_equal_blocks(recv, to, received, neighbors->sources, received_type));
  }
};

struct NeighborAllgatherv : NeighborGather {
  template <typename N, typename D>
  Reason take(const Member& member, const void* from, N sent, MPI_Datatype sent_type, void* to, const N* received,
              const D* displs, MPI_Datatype received_type) {
    const auto& neighbors = member.neighbors();
    return reason_of(neighbors && take_gift(send, from, sent, sent_type, neighbors->destinations) &&
                     take_blocks(recv, to, received, displs, neighbors->sources, received_type));
  }
};

struct NeighborExchange : Sides<Blocks, Blocks> {
  template <typename Make>
  auto with(const tutti::Communicator& ours, const Make& make) const {
    return make(ours, send.buffer(), send.counts(), send.displs(), recv.buffer(), recv.counts(), recv.displs());
  }
  TUTTI_MPI_WAYS(neighbor_alltoallv)
};

struct NeighborAlltoall : NeighborExchange {
  template <typename N>
  Reason take(const Member& member, const void* from, N sent, MPI_Datatype sent_type, void* to, N received,
              MPI_Datatype received_type) {
    const auto& neighbors = member.neighbors();
    return reason_of(neighbors && take_equal_blocks(send, from, sent, neighbors->destinations, sent_type) &&
                     take_equal_blocks(recv, to, received, neighbors->sources, received_type));
  }
};

struct NeighborAlltoallv : NeighborExchange {
  /// Types: MPI_Datatype of all blocks, or one for each, with displacements in bytes.
  template <typename N, typename D, typename Types>
  Reason take(const Member& member, const void* from, const N* sent, const D* sent_displs, Types sent_type, void* to,
              const N* received, const D* received_displs, Types received_type) {
    const auto& neighbors = member.neighbors();
    return reason_of(neighbors && take_blocks(send, from, sent, sent_displs, neighbors->destinations, sent_type) &&
                     take_blocks(recv, to, received, received_displs, neighbors->sources, received_type));
  }
};

using NeighborAlltoallw = NeighborAlltoallv;

}  // namespace

#define PARAMETERS(N, D) \
  const void *send, N sent, MPI_Datatype sent_type, void *recv, N received, MPI_Datatype received_type
#define ARGUMENTS() send, sent, sent_type, recv, received, received_type
TUTTI_MPI_COLLECTIVE(NeighborAllgather, Neighbor_allgather, neighbor_allgather, PARAMETERS, ARGUMENTS)
TUTTI_MPI_COLLECTIVE(NeighborAlltoall, Neighbor_alltoall, neighbor_alltoall, PARAMETERS, ARGUMENTS)
#undef PARAMETERS
#undef ARGUMENTS

#define PARAMETERS(N, D)                                                                              \
  const void *send, N sent, MPI_Datatype sent_type, void *recv, const N received[], const D displs[], \
      MPI_Datatype received_type
#define ARGUMENTS() send, sent, sent_type, recv, received, displs, received_type
TUTTI_MPI_COLLECTIVE(NeighborAllgatherv, Neighbor_allgatherv, neighbor_allgatherv, PARAMETERS, ARGUMENTS)
#undef PARAMETERS
#undef ARGUMENTS

#define PARAMETERS(N, D)                                                                                           \
  const void *send, const N sent[], const D sent_displs[], MPI_Datatype sent_type, void *recv, const N received[], \
      const D received_displs[], MPI_Datatype received_type
#define ARGUMENTS() send, sent, sent_displs, sent_type, recv, received, received_displs, received_type
TUTTI_MPI_COLLECTIVE(NeighborAlltoallv, Neighbor_alltoallv, neighbor_alltoallv, PARAMETERS, ARGUMENTS)
#undef PARAMETERS
#undef ARGUMENTS

#define PARAMETERS(N, D)                                                                                      \
  const void *send, const N sent[], const MPI_Aint sent_displs[], const MPI_Datatype sent_type[], void *recv, \
      const N received[], const MPI_Aint received_displs[], const MPI_Datatype received_type[]
#define ARGUMENTS() send, sent, sent_displs, sent_type, recv, received, received_displs, received_type
TUTTI_MPI_COLLECTIVE(NeighborAlltoallw, Neighbor_alltoallw, neighbor_alltoallw, PARAMETERS, ARGUMENTS)
#undef PARAMETERS
#undef ARGUMENTS
