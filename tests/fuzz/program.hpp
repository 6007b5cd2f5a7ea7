// SPDX-License-Identifier: BSD-3-Clause
// A random legal program, as data: every rank derives the whole of it from one seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <tutti/tutti.hpp>
#include <vector>

#include "fuzz/random.hpp"

namespace tutti::fuzz {

enum class Operation : std::uint8_t {
  barrier,
  bcast,
  reduce,
  allreduce,
  reduce_scatter,
  reduce_scatter_block,
  scan,
  exscan,
  gather,
  gatherv,
  scatter,
  scatterv,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
};
inline constexpr std::size_t operations = 16;

[[nodiscard]] const char* name(Operation operation);
[[nodiscard]] const char* name(CallForm form);
[[nodiscard]] bool combines(Operation operation);
[[nodiscard]] bool has_root(Operation operation);

/// The facts of a program that come from outside: what the environment variables and the machine allow.
struct Setting {
  bool shared_memory = true;
  bool single_copy = true;
  bool progress_thread = false;
  bool progress_hook = false;  ///< calls go on inside the host MPI
  bool reproducible = false;
  bool native = true;                           ///< the host MPI's own collectives are there
  std::size_t largest = std::size_t{1} << 20U;  ///< bytes that a rank gives in one call, about
  std::size_t phases = 6;
  bool aliases_empty = true;  ///< empty arrays may have the address of another array
};

/// A communicator of some ranks of the world, in an order of their own.
struct Group {
  std::vector<int> ranks;  ///< of the world; their order is that of the communicator
  bool reproducible = false;
};

/// A collective call, as all its ranks see it.
struct Call {
  Operation operation = Operation::barrier;
  CallForm form = CallForm::blocking;
  std::size_t group = 0;
  Datatype type{DatatypeKind::int32};
  ReduceKind op = ReduceKind::sum;
  bool commutes = true;  ///< of a user operation
  bool reproducible = false;
  int root = 0;
  std::size_t count = 0;             ///< of uniform calls; of reduce_scatter the sum
  std::vector<std::size_t> counts;   ///< of v-forms: one per rank; of alltoallv one per pair, the sender's row first
  std::vector<char> in_place;        ///< one per rank
  std::vector<char> shared_buffers;  ///< one per rank: in memory of tutti::allocate
  std::string algorithm;
  std::uint64_t seed = 0;

  [[nodiscard]] std::size_t from_to(std::size_t ranks, std::size_t sender, std::size_t receiver) const {
    return counts[sender * ranks + receiver];
  }
};

/// Calls that are outstanding together. Each rank inits the persistent ones, starts all, and waits for all in an order
/// of its own; persistent ones are started `rounds` times.
struct Phase {
  std::vector<Call> calls;
  int rounds = 1;
  int away = -1;  ///< the rank of the world that is in MPI_Recv until rank `waits` has waited; -1: none
  int waits = -1;
  bool with_large_send = false;  ///< the message is long: it needs both ranks inside MPI
};

struct Program {
  std::uint64_t seed = 0;
  std::vector<Group> groups;
  std::vector<Phase> phases;
};

[[nodiscard]] Program make_program(std::uint64_t seed, int ranks, const Setting& setting);

/// What a reader needs to write the call by hand.
[[nodiscard]] std::string describe(const Program& program, const Call& call);
[[nodiscard]] std::string describe(const Program& program, const Phase& phase);

}  // namespace tutti::fuzz
