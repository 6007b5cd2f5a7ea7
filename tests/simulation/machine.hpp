// SPDX-License-Identifier: BSD-3-Clause
// What a seed decides beside the program: the machine, the manner in which ranks take turns, and the planted fault.
#pragma once

#include <cstdint>
#include <string>
#include <tutti/topology.hpp>
#include <vector>

#include "fuzz/program.hpp"

namespace tutti::simulation {

using fuzz::mix;
using fuzz::Random;

/// The choice of the rank that goes on.
enum class Policy : std::uint8_t {
  uniform,     ///< any rank
  priorities,  ///< the rank of the highest priority, until it waits; priorities change at random
  bursts,      ///< mostly the rank that went on before
};

/// How ranks and messages take turns.
struct Manner {
  Policy policy = Policy::uniform;
  int copy_stops = 1;        ///< a rank stops at one in so many copies that touch shared memory
  int delivers = 2;          ///< a message arrives at one in so many decisions
  int pauses = 0;            ///< a rank pauses at one in so many decisions; 0: never
  bool dies = false;         ///< a rank stops for ever, until no other one can go on without it
  std::uint64_t yields = 0;  ///< before a rank sleeps
  std::size_t eager = 256;   ///< bytes of the longest message that does not wait for its receiver
};

struct Machine {
  int ranks = 2;
  int nodes = 1;
  bool oversubscribed = true;
  bool shared_memory = true;
  bool kernel_copies = true;
  bool is_weak = false;         ///< its shared memory is weakly ordered
  std::vector<Place> places{};  ///< of each rank

  /// The topology of a communicator of some ranks.
  [[nodiscard]] Topology topology_of(const std::vector<int>& members) const;
};

/// The defects that a run can have planted, each of which must be found.
enum class Fault : std::uint8_t {
  none,
  wake,        ///< a wake-up is lost
  swap,        ///< two messages of a pair change places
  slot,        ///< a rank is told to have taken what it has not, so that others write over it
  result,      ///< work is said to be finished that is not
  generation,  ///< a word has the generation of a later call
  decision,    ///< one rank predicts by other costs than the others, and so takes other ways
  plan,        ///< the same, found by a comparison of the plans
};
[[nodiscard]] std::vector<std::string> fault_names();
[[nodiscard]] Fault fault_of(const std::string& name);

/// What the caller wants of all seeds.
struct Wishes {
  int ranks = 0;  ///< 0: drawn
  Fault fault = Fault::none;
  bool weak = false;  ///< weak memory: 2 to 4 ranks, which share memory
  bool prints = false;
  fuzz::Setting setting{};
};

[[nodiscard]] Machine draw_machine(Random& random, const Wishes& wishes);
[[nodiscard]] Manner draw_manner(Random& random, const Wishes& wishes);
/// A program for that machine: random calls, of which many name their way.
[[nodiscard]] fuzz::Program draw_program(std::uint64_t seed, Random& random, const Machine& machine,
                                         const Manner& manner, fuzz::Setting& setting);

[[nodiscard]] std::string describe(const Machine& machine, const Manner& manner);

}  // namespace tutti::simulation
