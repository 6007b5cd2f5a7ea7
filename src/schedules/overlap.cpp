// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/overlap.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tutti::schedules {
namespace {

void join(Round& into, Round&& round) {
  into.transfers.insert(into.transfers.end(), round.transfers.begin(), round.transfers.end());
  into.locals.insert(into.locals.end(), std::make_move_iterator(round.locals.begin()),
                     std::make_move_iterator(round.locals.end()));
  if (round.exchange) into.exchange = std::move(round.exchange);
}

}  // namespace

Schedule Overlap::finish(bool alias_safe) {
  Schedule all;
  all.alias_safe = alias_safe;
  if (chunks_.empty()) return all;
  const std::vector<std::size_t> places = places_of_scratch();
  all.scratch_count = places.back();
  const std::size_t stages = chunks_.front().size();
  for (std::size_t step = 0; step + 1 < chunks_.size() + stages; ++step) append_step(step, places, all);
  return all;
}

/// Where each stage's scratch begins behind the shared part, and the end of the last.
std::vector<std::size_t> Overlap::places_of_scratch() const {
  std::vector<std::size_t> places{shared_};
  for (std::size_t stage = 0; stage < chunks_.front().size(); ++stage) {
    std::size_t most = shared_;
    for (const auto& chunk : chunks_) most = std::max(most, chunk[stage].scratch_count);
    places.push_back(places.back() + most - shared_);
  }
  return places;
}

// A round has one exchange at most. All ranks of a node put the exchanges of a step in the order of stages.
void Overlap::append_step(std::size_t step, const std::vector<std::size_t>& places, Schedule& all) const {
  const std::size_t begin = all.rounds.size();
  for (std::size_t stage = 0; stage + 1 < places.size(); ++stage) {
    if (step < stage || step - stage >= chunks_.size()) continue;
    std::size_t at = begin;
    for (const Round& round : chunks_[step - stage][stage].rounds) {
      while (at < all.rounds.size() && round.exchange && all.rounds[at].exchange) ++at;
      if (at == all.rounds.size()) all.rounds.emplace_back();
      join(all.rounds[at++], moved(round, places[stage]));
    }
  }
}

Round Overlap::moved(const Round& round, std::size_t place) const {
  Round result = round;
  const auto move = [&](Slice& slice) {
    if (slice.buffer == BufferName::scratch && slice.offset >= shared_) slice.offset += place - shared_;
  };
  for (Transfer& transfer : result.transfers) move(transfer.slice);
  for (Local& local : result.locals) {
    for (Slice& slice : local.inputs) move(slice);
    move(local.output);
  }
  if (result.exchange) {
    move(result.exchange->input);
    move(result.exchange->output);
  }
  return result;
}

}  // namespace tutti::schedules
