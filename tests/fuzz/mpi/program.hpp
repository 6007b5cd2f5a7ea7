// SPDX-License-Identifier: BSD-3-Clause
// A random legal program of MPI, as data: every rank derives the whole of it from one seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fuzz/mpi/calls.hpp"
#include "fuzz/mpi/groups.hpp"

namespace tutti::fuzz::mpi {

struct Setting {
  std::size_t largest = std::size_t{1} << 16U;  ///< bytes that a rank gives in one call, about
  std::size_t phases = 4;
  bool has_persistent = true;  ///< else nonblocking calls stand for persistent ones
};

/// A collective call, as all its ranks see it.
struct Call {
  Operation operation = Operation::barrier;
  Form form = Form::blocking;
  bool has_large_counts = false;
  std::size_t group = 0;
  std::size_t element = 0;    ///< of elements(): what is moved
  std::size_t reduction = 0;  ///< of reductions()
  int unit = 1;               ///< elements that all blocks are multiples of, so that types of several fit
  std::size_t bytes = 0;      ///< of a block, about
  bool is_in_place = false;
  int root = 0;              ///< modulo the size of its group
  bool frees_early = false;  ///< types and operation are freed before the wait
  std::uint64_t seed = 0;
};

/// A message between two ranks of the world, whose requests are among those of the calls.
struct Message {
  int from = 0;
  int to = 0;
  std::size_t bytes = 0;
  bool is_persistent = false;
};

/// Calls and messages that are outstanding together; persistent ones are started `rounds` times.
struct Phase {
  std::vector<Call> calls;
  std::vector<Message> messages;
  int rounds = 1;
  int away = -1;  ///< the rank of the world that waits for a message until rank `waits` has waited; -1: none
  int waits = -1;
  int how = 0;  ///< the way in which it waits
};

struct Program {
  std::uint64_t seed = 0;
  std::vector<GroupPlan> groups;
  std::vector<Phase> phases;
};

[[nodiscard]] Program make_program(std::uint64_t seed, int ranks, const Setting& setting);

[[nodiscard]] std::string describe(const Program& program, const Call& call);
[[nodiscard]] std::string describe(const Program& program, const Phase& phase);

}  // namespace tutti::fuzz::mpi
