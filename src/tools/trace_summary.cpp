// SPDX-License-Identifier: BSD-3-Clause
#include "tools/trace_summary.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

namespace tutti::tools {

std::uint64_t size_class(std::uint64_t bytes) {
  constexpr std::uint64_t largest = std::uint64_t{1} << 63U;
  return bytes == 0 ? 0 : bytes > largest ? std::numeric_limits<std::uint64_t>::max() : std::bit_ceil(bytes);
}

std::string_view reason_name(TraceSummary::Reason reason) {
  switch (reason) {
    case TraceSummary::Reason::collective:
      return "collective";
    case TraceSummary::Reason::late_sender:
      return "late sender";
    case TraceSummary::Reason::late_receiver:
      return "late receiver";
  }
  return "unknown";
}

void TraceSummary::add(const TraceSlice& slice) {
  Rank& rank = ranks_[slice.rank];
  if (slice.kind == TraceSlice::Kind::rank) {
    rank.ended = slice.ended;
    rank.lost = slice.lost;
    return;
  }
  if (!std::exchange(rank.has_begun, true)) rank.begin = slice.begin;
  rank.end = std::max(rank.end, slice.begin + slice.length);
  if (slice.kind == TraceSlice::Kind::range) {
    RangeTime& range = ranges_[slice.name];
    ++range.calls;
    range.seconds[slice.rank] += slice.length;
    return;
  }
  const double end = slice.begin + slice.length;
  rank.in_calls += std::max(0.0, end - std::max(slice.begin, rank.covered));
  rank.covered = std::max(rank.covered, end);
  add_call(slice);
  if (slice.waited_for >= 0) add_wait(slice);
}

void TraceSummary::add_call(const TraceSlice& slice) {
  constexpr std::string_view wait = "wait ";
  const bool is_wait = slice.kind == TraceSlice::Kind::wait;
  Operation& operation =
      operations_[{is_wait ? slice.name.substr(wait.size()) : slice.name, size_class(slice.bytes), slice.path}];
  operation.seconds += slice.length;
  operation.longest = std::max(operation.longest, slice.length);
  if (is_wait) return;
  ++operation.calls;
  operation.bytes += slice.bytes;
}

void TraceSummary::add_wait(const TraceSlice& slice) {
  constexpr std::size_t most_shown = 10;
  const Reason reason = slice.sequence != 0 ? Reason::collective
                        : slice.receives    ? Reason::late_sender
                                            : Reason::late_receiver;
  Wait& wait = waits_[{slice.rank, slice.waited_for, reason}];
  ++wait.calls;
  wait.seconds += slice.waited;
  const auto is_longer = [](const TraceSlice& a, const TraceSlice& b) { return a.waited > b.waited; };
  worst_.insert(std::upper_bound(worst_.begin(), worst_.end(), slice, is_longer), slice);
  if (worst_.size() > most_shown) worst_.pop_back();
}

double TraceSummary::imbalance() const {
  double sum = 0;
  double most = 0;
  for (const auto& [number, rank] : ranks_) {
    sum += rank.outside();
    most = std::max(most, rank.outside());
  }
  return sum > 0 ? most * static_cast<double>(ranks_.size()) / sum : 1;
}

double TraceSummary::waited(int rank) const {
  double sum = 0;
  for (const auto& [key, wait] : waits_)
    if (std::get<0>(key) == rank) sum += wait.seconds;
  return sum;
}

double TraceSummary::caused(int rank) const {
  double sum = 0;
  for (const auto& [key, wait] : waits_)
    if (std::get<1>(key) == rank) sum += wait.seconds;
  return sum;
}

}  // namespace tutti::tools
