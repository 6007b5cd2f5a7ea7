// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/algorithms.hpp"
#include "schedules/fold.hpp"

namespace tutti::schedules {
namespace {

/// The largest number of ranks up to `size` that is 2^i or 3 * 2^i: at least two thirds of them.
int core_of(int size) { return std::max(floor_power(size), size < 3 ? 1 : 3 * floor_power(size / 3)); }

/// Sizes of the groups that exchange, round by round.
std::vector<int> factors_of(int core) {
  std::vector<int> factors;
  if (core % 3 == 0) factors.push_back(3);
  for (core /= core % 3 == 0 ? 3 : 1; core > 1; core /= factors.back()) factors.push_back(core % 4 == 0 ? 4 : 2);
  return factors;
}

}  // namespace

Schedule allreduce_recursive_multiplying(const Problem& p) {
  Builder b;
  const Slice result = output(0, p.count);
  Slice mine = input(0, p.count);
  if (p.size == 1) b.copy(mine, result);
  const Fold fold(p, core_of(p.size));
  constexpr std::size_t slots = 4;
  if (!fold.begin(b, mine, scratch(0, p.count), result)) return b.finish(slots * p.count, true);
  int distance = 1;
  for (const int factor : factors_of(fold.size())) {
    const int own = fold.index() / distance % factor;
    std::vector<Slice> parts;
    for (int i = 0; i < factor; ++i) parts.push_back(i == own ? mine : scratch(i * p.count, p.count));
    // Each rank begins with another partner, so that no rank gets the first messages of all.
    for (int step = 1; step < factor; ++step) {
      const int to = wrap(own + step, factor);
      const int from = wrap(own - step, factor);
      b.send(fold.rank_of(fold.index() + (to - own) * distance), mine);
      b.recv(fold.rank_of(fold.index() + (from - own) * distance), parts[static_cast<std::size_t>(from)]);
    }
    b.reduce(std::move(parts), result);
    b.end_round();
    mine = result;
    distance *= factor;
  }
  fold.end(b, result);
  return b.finish(slots * p.count, true);
}

Cost allreduce_recursive_multiplying_cost(int size, double bytes) {
  const int core = core_of(size);
  const double folds = core < size ? 1 : 0;
  double rounds = 0;
  double partners = 0;
  for (const int factor : factors_of(core)) {
    rounds += 1;
    partners += factor - 1;
  }
  return {.rounds = rounds + 2 * folds,
          .bytes = (partners + 2 * folds) * bytes,
          .reduced_bytes = (partners + rounds + 2 * folds) * bytes,
          .copied_bytes = size == 1 ? bytes : 0.0,
          .messages = partners + 2 * folds};
}

}  // namespace tutti::schedules
