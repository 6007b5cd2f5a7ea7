// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/bcast.hpp>

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

}  // namespace

#define PARAMETERS(N, D) void *buffer, N count, MPI_Datatype type, int root
#define ARGUMENTS() buffer, count, type, root
TUTTI_MPI_COLLECTIVE(Bcast, Bcast, bcast, PARAMETERS, ARGUMENTS)
#undef PARAMETERS
#undef ARGUMENTS
