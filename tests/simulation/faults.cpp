// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/faults.hpp"

namespace tutti::simulation {
namespace {

using namespace detail::shm;

constexpr std::uint64_t very_much = std::uint64_t{1} << 16U;

/// The generation that a cell is used in.
Generation generation_of(const Cell& cell) {
  const Generation published = cell.lines[0].flag.load() >> count_bits;
  return std::max(published, cell.record.generation.load());
}

}  // namespace

void spoil_word(Fault fault, Arena& arena, Random& random) {
  const int rank = random.below(arena.size());
  const int number = random.below(ordered_cells);
  Cell& cell = arena.cell(rank, number);
  const Generation generation = generation_of(cell);
  if (generation == 0) return;
  if (fault == Fault::slot) cell.progress.consumed.store(tagged(generation, very_much));
  if (fault == Fault::result) cell.work.finished.store(tagged(generation, very_much));
  if (fault == Fault::generation) cell.work.taken.store(tagged(generation + ordered_cells, very_much));
}

void spoil_decisions(detail::Context& context) {
  context.costs.line *= 100;
  context.costs.kernel_call *= 100;
  context.costs.message *= 0.01;
  context.costs.message_gap *= 100;
}

}  // namespace tutti::simulation
