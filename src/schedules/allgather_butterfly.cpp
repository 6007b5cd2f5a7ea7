// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/algorithms.hpp"
#include "schedules/builder.hpp"
#include "schedules/butterfly.hpp"

namespace tutti::schedules {
namespace {

Schedule deliver_and_double(const Problem& p, Distances distances) {
  Builder b;
  const Butterfly butterfly(distances, p.size);
  const auto blocks = [&p](int first, int n) { return output(first * p.count, n * p.count); };
  // A rank begins with the block of its number's reversed bits: the known blocks then always follow one another.
  int first = reversed_bits(butterfly.number(p.rank), p.size);
  const int beginner = butterfly.place_of(reversed_bits(p.rank, p.size));
  const Slice own = input(0, p.count);
  if (beginner == p.rank) {
    b.copy(own, blocks(p.rank, 1));
  } else {
    b.send(beginner, own);
    b.recv(first, blocks(first, 1));
  }
  b.end_round();
  int known = 1;
  for (int step = butterfly.steps() - 1; step >= 0; --step, known *= 2) {
    const int partner = butterfly.partner(p.rank, step);
    const int other = butterfly.is_lower(p.rank, step) ? first + known : first - known;
    b.send(partner, blocks(first, known));
    b.recv(partner, blocks(other, known));
    b.end_round();
    first = std::min(first, other);
  }
  return b.finish(0, true);
}

}  // namespace

Schedule allgather_butterfly(const Problem& p) { return deliver_and_double(p, Distances::doubling); }
Schedule allgather_bine_butterfly(const Problem& p) { return deliver_and_double(p, Distances::bine); }

Cost allgather_butterfly_cost(int size, double bytes) {
  const double steps = ceil_log2(size);
  const double delivery = size > 2 ? 1 : 0;
  return {.rounds = steps + delivery,
          .bytes = bytes * (size - 1 + delivery) / size,
          .copied_bytes = bytes / size,
          .messages = steps + delivery};
}

}  // namespace tutti::schedules
