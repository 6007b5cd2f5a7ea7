// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/algorithms.hpp"
#include "schedules/builder.hpp"

namespace tutti::schedules {
namespace {

/// Runs of the blocks that travel over `distance`, a digit times a power of the radix: the blocks whose way, in ranks,
/// has that digit at that power.
Blocks travellers(int size, int power, int digit, int radix) {
  Blocks runs;
  for (int i = digit * power; i < size; i += radix * power)
    runs.push_back({static_cast<std::size_t>(i), static_cast<std::size_t>(std::min(power, size - i))});
  return runs;
}

std::size_t blocks_of(const Blocks& runs) {
  std::size_t n = 0;
  for (const Block& run : runs) n += run.count;
  return n;
}

/// The number of blocks that leave a rank in the round of a power.
std::size_t moved(int size, int power, int radix) {
  const int period = radix * power;
  const int staying = size / period * power + std::min(size % period, power);
  return static_cast<std::size_t>(size - staying);
}

Schedule travel(const Problem& p, int radix) {
  Builder b;
  const std::size_t n = p.count;
  std::size_t most = 0;
  for (int power = 1; power < p.size; power *= radix) most = std::max(most, moved(p.size, power, radix));
  const std::size_t packed = p.size * n;
  const std::size_t arrived = packed + most * n;

  // Slot i of scratch has the block that has i ranks still to go.
  const int upper = p.size - p.rank;
  b.copy(input(p.rank * n, upper * n), scratch(0, upper * n));
  b.copy(input(0, p.rank * n), scratch(upper * n, p.rank * n));
  for (int power = 1; power < p.size; power *= radix) {
    std::size_t at = 0;
    for (int digit = 1; digit < radix; ++digit)
      for (const Block& run : travellers(p.size, power, digit, radix)) {
        b.copy(scratch(run.offset * n, run.count * n), scratch(packed + at, run.count * n));
        at += run.count * n;
      }
    b.end_round();
    at = 0;
    for (int digit = 1; digit < radix; ++digit) {
      const Blocks runs = travellers(p.size, power, digit, radix);
      const std::size_t size = blocks_of(runs) * n;
      b.send(wrap(p.rank + digit * power, p.size), scratch(packed + at, size));
      b.recv(wrap(p.rank - digit * power, p.size), scratch(arrived + at, size));
      for (const Block& run : runs) {
        b.copy(scratch(arrived + at, run.count * n), scratch(run.offset * n, run.count * n));
        at += run.count * n;
      }
    }
  }
  for (int i = 0; i < p.size; ++i) b.copy(scratch(i * n, n), output(wrap(p.rank - i, p.size) * n, n));
  return b.finish(arrived + most * n, true);
}

Cost alltoall_cost(int size, double bytes, int radix) {
  Cost cost;
  double blocks = 0;
  for (int power = 1; power < size; power *= radix) {
    cost.rounds += 1;
    cost.messages += std::min(radix - 1, (size - 1) / power);
    blocks += static_cast<double>(moved(size, power, radix));
  }
  cost.bytes = blocks * bytes / size;
  cost.copied_bytes = 2 * (bytes + cost.bytes);
  return cost;
}

}  // namespace

Schedule alltoall_bruck(const Problem& p) { return travel(p, 2); }
Cost alltoall_bruck_cost(int size, double bytes) { return alltoall_cost(size, bytes, 2); }

Schedule alltoall_bruck4(const Problem& p) { return travel(p, 4); }
Cost alltoall_bruck4_cost(int size, double bytes) { return alltoall_cost(size, bytes, 4); }

Schedule alltoall_bruck8(const Problem& p) { return travel(p, 8); }
Cost alltoall_bruck8_cost(int size, double bytes) { return alltoall_cost(size, bytes, 8); }

Schedule alltoall_bruck16(const Problem& p) { return travel(p, 16); }
Cost alltoall_bruck16_cost(int size, double bytes) { return alltoall_cost(size, bytes, 16); }

}  // namespace tutti::schedules
