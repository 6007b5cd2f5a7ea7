// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/mpi/program.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fuzz/mpi/reductions.hpp"

namespace tutti::fuzz::mpi {
namespace {

std::size_t draw_bytes(Random& random, const Setting& setting) {
  if (random.once_in(6)) return 0;
  std::size_t magnitude = 8;
  while (magnitude < setting.largest && !random.once_in(10)) magnitude *= 2;
  return random.below(magnitude) + 1;
}

/// What MPI allows, without what MPICH 4.0.2 does wrong itself: persistent calls of intercommunicators, and blocks of
/// several types on graphs that give a rank more or fewer than it gets.
bool is_legal(const Call& call, Kind kind) {
  if (call.operation == Operation::neighbor_alltoallw) return kind == Kind::grid;
  if (is_of_neighbors(call.operation)) return kind == Kind::grid || kind == Kind::graph;
  if (kind != Kind::intercommunicator) return true;
  if (call.form == Form::persistent) return false;
  return !combines(call.operation) || call.operation == Operation::reduce || call.operation == Operation::allreduce;
}

bool takes_in_place(const Call& call, Kind kind) {
  return call.operation >= Operation::reduce && !is_of_neighbors(call.operation) && kind != Kind::intercommunicator;
}

Call draw_call(Random& random, const Program& program, const Setting& setting) {
  Call call;
  Kind kind{};
  do {
    call.operation = static_cast<Operation>(random.below(operations));
    call.form = static_cast<Form>(random.below(3));
    call.group = random.below(program.groups.size());
    kind = program.groups[call.group].kind;
  } while (!is_legal(call, kind));
  call.has_large_counts = random.once_in(4);
  call.element = random.below(elements().size());
  call.reduction = random.below(reductions().size());
  call.unit = random.one_of<int>({1, 2, 4, 6, 12});
  call.bytes = draw_bytes(random, setting);
  call.is_in_place = takes_in_place(call, kind) && random.once_in(3);
  call.root = random.below(1 << 20);
  // MPICH 4.0.2 does not keep the types of intercommunicators' calls.
  call.frees_early = call.form == Form::nonblocking && kind != Kind::intercommunicator && random.once_in(3);
  call.seed = random.bits();
  if (call.form == Form::persistent && !setting.has_persistent) call.form = Form::nonblocking;
  // MPICH 4.0.2 takes counts for bytes where it chooses a way between groups: all ranks give the same ones.
  const bool is_by_counts = call.operation == Operation::gather || call.operation == Operation::scatter;
  if (is_by_counts && kind == Kind::intercommunicator) call.unit = 1;
  // Its nonblocking broadcast between groups loses data where ranks describe them by types with and without gaps.
  const bool is_broadcast = call.operation == Operation::bcast && call.form == Form::nonblocking;
  if (is_broadcast && kind == Kind::intercommunicator) {
    call.form = Form::blocking;
    call.frees_early = false;
  }
  // It takes the lower bound of one type for that of all.
  if (call.operation == Operation::alltoallw && call.form == Form::nonblocking) call.is_in_place = false;
  return call;
}

Message draw_message(Random& random, int ranks) {
  const int from = random.below(ranks), to = random.below(ranks);
  return {from, to, random.once_in(4) ? std::size_t{1} << 17U : random.below(std::size_t{3000}), random.once_in(3)};
}

Phase draw_phase(Random random, const Program& program, const Setting& setting, int ranks) {
  Phase phase;
  const std::size_t calls = random.once_in(5) ? 1 : random.once_in(8) ? 24 : 1 + random.below(std::size_t{8});
  for (std::size_t i = 0; i < calls; ++i) phase.calls.push_back(draw_call(random, program, setting));
  for (int i = random.below(5); i > 0; --i) phase.messages.push_back(draw_message(random, ranks));
  phase.rounds = 1 + random.below(3);
  if (ranks < 2 || random.once_in(2)) return phase;
  phase.away = random.below(ranks);
  phase.waits = (phase.away + 1 + random.below(ranks - 1)) % ranks;
  phase.how = random.below(6);
  return phase;
}

const char* name(Form form) {
  return form == Form::blocking ? "blocking" : form == Form::nonblocking ? "nonblocking" : "persistent";
}

}  // namespace

Program make_program(std::uint64_t seed, int ranks, const Setting& setting) {
  Program program;
  program.seed = seed;
  Random random(mix({seed, 11}));
  program.groups.push_back({Kind::duplicate, random.bits()});
  for (std::size_t i = random.below(std::size_t{4}); i > 0; --i)
    program.groups.push_back({static_cast<Kind>(random.below(kinds)), random.bits()});
  // Each phase has a seed of its own, so that one can be run without the others.
  for (std::size_t i = 0; i < setting.phases; ++i)
    program.phases.push_back(draw_phase(Random(mix({seed, 12, i})), program, setting, ranks));
  return program;
}

std::string describe(const Program& program, const Call& call) {
  std::string text =
      fmt::format("{} {}{} on communicator {} ({})", name(call.form), mpi::name(call.operation),
                  call.has_large_counts ? "_c" : "", call.group, mpi::name(program.groups[call.group].kind));
  if (call.operation == Operation::barrier) return text;
  if (combines(call.operation))
    text += ", " + reductions()[call.reduction].name;
  else
    text += fmt::format(", {} in types of up to {}", elements()[call.element].name, call.unit);
  text += fmt::format(", {} bytes", call.bytes);
  if (has_root(call.operation)) text += fmt::format(", root {} modulo the ranks", call.root);
  if (call.is_in_place) text += ", in place";
  if (call.frees_early) text += ", freed before the wait";
  return text;
}

std::string describe(const Program& program, const Phase& phase) {
  std::string text = fmt::format("{} rounds, {} messages", phase.rounds, phase.messages.size());
  if (phase.away >= 0)
    text += fmt::format("; rank {} waits by way {} until rank {} has waited", phase.away, phase.how, phase.waits);
  text += '\n';
  for (std::size_t i = 0; i < phase.calls.size(); ++i)
    text += fmt::format("  {:2}: {}\n", i, describe(program, phase.calls[i]));
  return text;
}

}  // namespace tutti::fuzz::mpi
