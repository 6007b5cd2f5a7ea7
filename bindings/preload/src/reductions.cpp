// SPDX-License-Identifier: BSD-3-Clause
// The collectives that combine.
#include <tutti/collectives/allreduce.hpp>
#include <tutti/collectives/exscan.hpp>
#include <tutti/collectives/reduce.hpp>
#include <tutti/collectives/reduce_scatter.hpp>
#include <tutti/collectives/reduce_scatter_block.hpp>
#include <tutti/collectives/scan.hpp>

#include "arguments.hpp"
#include "forms.hpp"

namespace {

using namespace tutti::preload;

struct Reducing {
  Operands operands{};

  void hold() { operands.hold(); }
  void read() {}
  void write() {}
};

/// A reduction with one count, by default that of what a rank gives and of what it gets.
struct EvenReduction : Reducing {
  template <typename N>
  Reason take(const Member& /*member*/, const void* from, void* to, N count, MPI_Datatype type, MPI_Op op) {
    return operands.take(from, to, count, count, type, op);
  }
  template <typename Make>
  auto with(const tutti::Communicator& ours, const Make& make) const {
    return make(ours, operands.input(), operands.output(), operands.op());
  }
};

struct Allreduce : EvenReduction {
  TUTTI_MPI_WAYS(allreduce)
};

struct Scan : EvenReduction {
  TUTTI_MPI_WAYS(scan)
};

struct Exscan : EvenReduction {
  template <typename N>
  Reason take(const Member& member, const void* from, void* to, N count, MPI_Datatype type, MPI_Op op) {
    if (member.rank() == 0 && from != MPI_IN_PLACE) return operands.take_given(from, count, type, op);
    return EvenReduction::take(member, from, to, count, type, op);
  }
  TUTTI_MPI_WAYS(exscan)
};

struct ReduceScatterBlock : EvenReduction {
  template <typename N>
  Reason take(const Member& member, const void* from, void* to, N count, MPI_Datatype type, MPI_Op op) {
    const MPI_Count all = MPI_Count{count} * member.size();
    return operands.take(from, to, all, from == MPI_IN_PLACE ? all : MPI_Count{count}, type, op);
  }
  TUTTI_MPI_WAYS(reduce_scatter_block)
};

struct Reduce : Reducing {
  int root = 0;

  template <typename N>
  Reason take(const Member& member, const void* from, void* to, N count, MPI_Datatype type, MPI_Op op, int target) {
    root = target;
    if (!has_root(member, target)) return Reason::arguments;
    if (is_root(member, target)) return operands.take(from, to, count, count, type, op);
    return from == MPI_IN_PLACE ? Reason::arguments : operands.take(from, nullptr, count, N{0}, type, op);
  }
  template <typename Make>
  auto with(const tutti::Communicator& ours, const Make& make) const {
    return make(ours, operands.input(), operands.output(), operands.op(), root);
  }
  TUTTI_MPI_WAYS(reduce)
};

struct ReduceScatter : Reducing {
  std::vector<std::size_t> counts{};

  template <typename N>
  Reason take(const Member& member, const void* from, void* to, const N* received, MPI_Datatype type, MPI_Op op) {
    if (received == nullptr) return Reason::arguments;
    MPI_Count all = 0;
    for (int r = 0; r < member.size(); ++r) {
      if (received[r] < 0) return Reason::arguments;
      counts.push_back(static_cast<std::size_t>(received[r]));
      all += received[r];
    }
    const MPI_Count own = received[member.rank()];
    return operands.take(from, to, all, from == MPI_IN_PLACE ? all : own, type, op);
  }
  template <typename Make>
  auto with(const tutti::Communicator& ours, const Make& make) const {
    return make(ours, operands.input(), operands.output(), counts, operands.op());
  }
  TUTTI_MPI_WAYS(reduce_scatter)
};

}  // namespace

#define PARAMETERS(N, D) const void *send, void *recv, N count, MPI_Datatype type, MPI_Op op
#define ARGUMENTS() send, recv, count, type, op
TUTTI_MPI_COLLECTIVE(Allreduce, Allreduce, allreduce, PARAMETERS, ARGUMENTS)
TUTTI_MPI_COLLECTIVE(Scan, Scan, scan, PARAMETERS, ARGUMENTS)
TUTTI_MPI_COLLECTIVE(Exscan, Exscan, exscan, PARAMETERS, ARGUMENTS)
TUTTI_MPI_COLLECTIVE(ReduceScatterBlock, Reduce_scatter_block, reduce_scatter_block, PARAMETERS, ARGUMENTS)
#undef PARAMETERS
#undef ARGUMENTS

#define PARAMETERS(N, D) const void *send, void *recv, N count, MPI_Datatype type, MPI_Op op, int root
#define ARGUMENTS() send, recv, count, type, op, root
TUTTI_MPI_COLLECTIVE(Reduce, Reduce, reduce, PARAMETERS, ARGUMENTS)
#undef PARAMETERS
#undef ARGUMENTS

#define PARAMETERS(N, D) const void *send, void *recv, const N received[], MPI_Datatype type, MPI_Op op
#define ARGUMENTS() send, recv, received, type, op
TUTTI_MPI_COLLECTIVE(ReduceScatter, Reduce_scatter, reduce_scatter, PARAMETERS, ARGUMENTS)
#undef PARAMETERS
#undef ARGUMENTS
