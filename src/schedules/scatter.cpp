// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <utility>

#include "schedules/algorithms.hpp"

namespace tutti::schedules {
namespace {

Slice mirrored(Slice slice) {
  if (slice.buffer != BufferName::scratch)
    slice.buffer = slice.buffer == BufferName::input ? BufferName::output : BufferName::input;
  return slice;
}

Transfer mirrored(const Transfer& t) {
  return {t.kind == Transfer::Kind::send ? Transfer::Kind::recv : Transfer::Kind::send, t.peer, mirrored(t.slice)};
}

/// A gather run backwards is a scatter: rounds from the last to the first, messages and copies the other way. The
/// copies of a gather do not depend on the messages of their round, so they may stay behind them.
Schedule mirrored(Schedule gather) {
  std::reverse(gather.rounds.begin(), gather.rounds.end());
  for (Round& round : gather.rounds) {
    for (Transfer& transfer : round.transfers) transfer = mirrored(transfer);
    for (Local& copy : round.locals) copy.output = mirrored(std::exchange(copy.inputs.front(), mirrored(copy.output)));
  }
  return gather;
}

}  // namespace

Schedule scatter_binomial(const Problem& p) { return mirrored(gather_binomial(p)); }
Cost scatter_binomial_cost(int size, double bytes) { return gather_binomial_cost(size, bytes); }

Schedule scatter_knomial(const Problem& p) { return mirrored(gather_knomial(p)); }
Cost scatter_knomial_cost(int size, double bytes) { return gather_knomial_cost(size, bytes); }

Schedule scatter_linear(const Problem& p) { return mirrored(gather_linear(p)); }
Cost scatter_linear_cost(int size, double bytes) { return gather_linear_cost(size, bytes); }

Schedule scatterv_linear(const Problem& p) {
  Problem gather = p;
  gather.send_count = p.recv_count;
  gather.recv_counts = p.send_counts;
  gather.recv_displs = p.send_displs;
  return mirrored(gatherv_linear(gather));
}

}  // namespace tutti::schedules
