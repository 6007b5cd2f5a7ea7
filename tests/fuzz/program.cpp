// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace tutti::fuzz {
namespace {

constexpr std::array<const char*, operations> operation_names{
    "barrier", "bcast",   "reduce",  "allreduce", "reduce_scatter", "reduce_scatter_block", "scan",     "exscan",
    "gather",  "gatherv", "scatter", "scatterv",  "allgather",      "allgatherv",           "alltoall", "alltoallv"};

/// Sizes at which protocols begin or end, in bytes, beside sizes of every magnitude.
std::size_t draw_bytes(Random& random, const Setting& setting) {
  if (random.once_in(6)) return 0;
  if (random.once_in(3)) {
    const std::size_t edge = random.one_of<std::size_t>(
        {4, 8, 48, 56, 64, 128, 256, 512, 1024, 4096, 8192, 10'912, 12'000, 16'384, 30'000, 32'768, 65'536, 262'144});
    return std::min(setting.largest, edge + random.below(std::size_t{17}) - std::min<std::size_t>(edge, 8));
  }
  std::size_t magnitude = 2;
  while (magnitude < setting.largest && !random.once_in(14)) magnitude *= 2;
  return random.below(magnitude) + 1;
}

Datatype draw_type(Random& random) {
  if (random.once_in(3))
    return random.one_of<Datatype>({DatatypeKind::uint8, DatatypeKind::uint16, DatatypeKind::uint32,
                                    DatatypeKind::uint64, DatatypeKind::int32, DatatypeKind::float32});
  const auto kind = static_cast<DatatypeKind>(1 + random.below(29));
  return kind == DatatypeKind::bytes ? Datatype::bytes(8) : Datatype(kind);
}

ReduceKind draw_op(Random& random, const Call& call) {
  const bool is_scan = call.operation == Operation::scan || call.operation == Operation::exscan;
  for (;;) {
    const auto op = static_cast<ReduceKind>(1 + random.below(15));
    if (op == ReduceKind::user && call.type.size() != 8) continue;
    if (is_defined(op, call.type.kind()) && !(is_scan && op == ReduceKind::avg)) return op;
  }
}

void draw_block_counts(Random& random, Call& call, std::size_t ranks, std::size_t total) {
  const std::size_t most = total / ranks + 1;
  call.counts.resize(call.operation == Operation::alltoallv ? ranks * ranks : ranks);
  for (std::size_t& count : call.counts) count = random.once_in(4) ? 0 : random.below(2 * most);
  if (random.once_in(12)) std::fill(call.counts.begin(), call.counts.end(), 0);
  call.count = std::accumulate(call.counts.begin(), call.counts.end(), std::size_t{0});
}

/// A rank that makes an alltoallv in place gives each other rank as much as it gets from it.
void make_symmetric(Call& call, std::size_t ranks) {
  for (std::size_t a = 0; a < ranks; ++a)
    for (std::size_t b = 0; b < ranks; ++b)
      if (call.in_place[a] != 0) call.counts[b * ranks + a] = call.counts[a * ranks + b];
}

bool takes_in_place(const Call& call, std::size_t rank) {
  switch (call.operation) {
    case Operation::barrier:
    case Operation::bcast:
      return false;
    case Operation::reduce:
    case Operation::gather:
    case Operation::gatherv:
    case Operation::scatter:
    case Operation::scatterv:
      return static_cast<int>(rank) == call.root;
    default:
      return true;
  }
}

bool is_varying(Operation operation) {
  return operation == Operation::reduce_scatter || operation == Operation::gatherv ||
         operation == Operation::scatterv || operation == Operation::allgatherv || operation == Operation::alltoallv;
}

bool has_blocks(Operation operation) {
  return operation == Operation::gather || operation == Operation::scatter || operation == Operation::allgather ||
         operation == Operation::alltoall || operation == Operation::reduce_scatter_block;
}

void draw_shape(Random& random, Call& call, std::size_t ranks, std::size_t bytes) {
  const std::size_t elements = bytes / call.type.size();
  if (is_varying(call.operation))
    draw_block_counts(random, call, ranks, elements);
  else
    call.count = has_blocks(call.operation) ? elements / ranks : elements;
  const bool mixed = random.once_in(2);
  const bool all = random.once_in(2);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const bool wants = mixed ? random.once_in(2) : all;
    call.in_place.push_back(static_cast<char>(wants && takes_in_place(call, rank)));
    call.shared_buffers.push_back(static_cast<char>(random.once_in(5)));
  }
  if (call.operation == Operation::alltoallv) make_symmetric(call, ranks);
}

Call draw_call(Random& random, const Program& program, const Setting& setting) {
  Call call;
  call.seed = random.bits();
  call.operation = static_cast<Operation>(random.below(operations));
  call.form = static_cast<CallForm>(random.below(3));
  call.group = random.below(program.groups.size());
  const std::size_t ranks = program.groups[call.group].ranks.size();
  if (call.operation == Operation::barrier)
    call.type = DatatypeKind::uint8;
  else
    call.type = draw_type(random);
  if (combines(call.operation)) {
    call.op = draw_op(random, call);
    call.commutes = call.op != ReduceKind::user || call.type.kind() != DatatypeKind::bytes;
  }
  call.reproducible = random.once_in(8);
  if (has_root(call.operation)) call.root = random.below(static_cast<int>(ranks));
  draw_shape(random, call, ranks, call.operation == Operation::barrier ? 0 : draw_bytes(random, setting));
  if (random.once_in(6))
    call.algorithm = random.one_of<const char*>({"mpi", "shm", "native", "shm:slots", "shm:single_copy", "shm:parts",
                                                 "shm:tree", "shm:stream", "shm:wide", "shm:uncached", "ring", "naive",
                                                 "pairwise", "binomial", "recursive_doubling"});
  return call;
}

/// Whether the other ranks can complete the call while one that has started it is in MPI_Recv (docs/semantics.md).
bool completes_without(const Program& program, const Setting& setting, const Call& call) {
  if (setting.progress_thread || setting.progress_hook || call.form == CallForm::blocking) return true;
  if (!call.algorithm.empty()) return false;
  if (setting.shared_memory && setting.single_copy) return true;
  const std::size_t slot = 32'768;
  if (setting.shared_memory && !is_varying(call.operation)) {
    const std::size_t blocks = has_blocks(call.operation) ? program.groups[call.group].ranks.size() : 1;
    if (call.count * blocks * call.type.size() <= slot) return true;
  }
  const bool is_reproducible = setting.reproducible || call.reproducible || program.groups[call.group].reproducible;
  const bool is_native = !combines(call.operation) ||
                         (call.op == ReduceKind::sum &&
                          (call.type.kind() == DatatypeKind::int32 || call.type.kind() == DatatypeKind::int64));
  return setting.native && call.form == CallForm::nonblocking && !is_reproducible && is_native;
}

void draw_away(Random& random, const Program& program, const Setting& setting, Phase& phase, int ranks) {
  if (ranks < 2 || !random.once_in(2)) return;
  std::erase_if(phase.calls, [&](const Call& call) { return !completes_without(program, setting, call); });
  phase.away = random.below(ranks);
  phase.waits = (phase.away + 1 + random.below(ranks - 1)) % ranks;
  phase.with_large_send = random.once_in(4);
}

Phase draw_phase(Random random, const Program& program, const Setting& setting, int ranks) {
  Phase phase;
  // Up to 16 calls of a communicator may be outstanding while a rank is away, and blocking ones count.
  const std::size_t calls = random.once_in(5) ? 1 : 1 + random.below(std::size_t{15});
  for (std::size_t i = 0; i < calls; ++i) phase.calls.push_back(draw_call(random, program, setting));
  phase.rounds = 1 + random.below(3);
  draw_away(random, program, setting, phase, ranks);
  return phase;
}

Group draw_group(Random& random, int ranks) {
  Group group;
  group.ranks.resize(static_cast<std::size_t>(ranks));
  std::iota(group.ranks.begin(), group.ranks.end(), 0);
  if (random.once_in(2)) random.shuffle(std::span(group.ranks));
  if (random.once_in(2)) group.ranks.resize(1 + random.below(group.ranks.size()));
  group.reproducible = random.once_in(5);
  return group;
}

}  // namespace

const char* name(Operation operation) { return operation_names[static_cast<std::size_t>(operation)]; }

const char* name(CallForm form) {
  return form == CallForm::blocking ? "blocking" : form == CallForm::nonblocking ? "nonblocking" : "persistent";
}

bool combines(Operation operation) { return operation >= Operation::reduce && operation <= Operation::exscan; }

bool has_root(Operation operation) {
  return operation == Operation::bcast || operation == Operation::reduce || operation == Operation::gather ||
         operation == Operation::gatherv || operation == Operation::scatter || operation == Operation::scatterv;
}

Program make_program(std::uint64_t seed, int ranks, const Setting& setting) {
  Program program;
  program.seed = seed;
  Random random(mix({seed, 1}));
  Group world;
  world.ranks.resize(static_cast<std::size_t>(ranks));
  std::iota(world.ranks.begin(), world.ranks.end(), 0);
  program.groups.push_back(world);
  const std::size_t others = random.below(std::size_t{4});
  for (std::size_t i = 0; i < others; ++i) program.groups.push_back(draw_group(random, ranks));
  // Each phase has a seed of its own, so that one can be run without the others.
  for (std::size_t i = 0; i < setting.phases; ++i)
    program.phases.push_back(draw_phase(Random(mix({seed, 2, i})), program, setting, ranks));
  return program;
}

std::string describe(const Program& program, const Call& call) {
  const Group& group = program.groups[call.group];
  std::string text =
      fmt::format("{} {} on ranks {}{}, {} of {} bytes", name(call.form), name(call.operation), group.ranks,
                  group.reproducible ? " (reproducible)" : "", datatype_name(call.type.kind()), call.type.size());
  if (combines(call.operation)) text += fmt::format(", {}", reduce_op_name(call.op));
  if (has_root(call.operation)) text += fmt::format(", root {}", call.root);
  if (call.counts.empty())
    text += fmt::format(", {} elements", call.count);
  else
    text += fmt::format(", counts {}", call.counts);
  text += fmt::format(", in place {}", std::vector<int>(call.in_place.begin(), call.in_place.end()));
  if (call.reproducible) text += ", reproducible";
  if (!call.algorithm.empty()) text += fmt::format(", algorithm {}", call.algorithm);
  return text;
}

std::string describe(const Program& program, const Phase& phase) {
  std::string text = fmt::format("{} rounds", phase.rounds);
  if (phase.away >= 0)
    text += fmt::format("; rank {} is in MPI_Recv until rank {} has waited and sent{}", phase.away, phase.waits,
                        phase.with_large_send ? " a large message" : "");
  text += '\n';
  for (std::size_t i = 0; i < phase.calls.size(); ++i)
    text += fmt::format("  {:2}: {}\n", i, describe(program, phase.calls[i]));
  return text;
}

}  // namespace tutti::fuzz
