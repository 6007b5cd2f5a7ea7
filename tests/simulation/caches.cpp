// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/caches.hpp"

#include <algorithm>

namespace tutti::simulation {
namespace {

/// Looks at each of the lines that a rank polls before it is taken to wait for one of them.
constexpr std::uint32_t looks_before_wait = 3;

std::size_t place_of(int number) { return static_cast<std::size_t>(number); }

}  // namespace

Caches::Caches(Scheduler& scheduler, const Prices& prices, int ranks)
    : scheduler_(scheduler),
      prices_(prices),
      ranks_(place_of(ranks)),
      ports_(place_of(prices.sockets * prices.caches)),
      links_(place_of(prices.sockets)) {
  active = this;
}

int Caches::choose(const std::vector<int>& ready) {
  if (!has_price_) return -1;
  int chosen = -1;
  for (const int rank : ready) {
    const Rank& r = ranks_[place_of(rank)];
    if (!r.waits && (chosen < 0 || r.clock < ranks_[place_of(chosen)].clock)) chosen = rank;
  }
  if (chosen >= 0) return chosen;
  // They wait for something beside lines.
  for (const int rank : ready) ranks_[place_of(rank)].waits = false;
  return ready.front();
}

void Caches::await_turn() {
  const Rank& mine = me();
  const auto is_before = [&](const Rank& other) { return other.runs && !other.waits && other.clock < mine.clock; };
  while (std::any_of(ranks_.begin(), ranks_.end(), is_before)) scheduler_.stop();
}

void Caches::leave() {
  Rank& rank = me();
  next_start_ = std::max({next_start_, rank.clock, rank.loaded, rank.stored});
  rank.runs = false;
  clear_looks(rank);
}

void Caches::enter() {
  Rank& rank = me();
  rank.clock = rank.loaded = rank.stored = start_ = next_start_;
  rank.fetched.clear();
  rank.runs = true;
}

double Caches::since_entry() const { return std::max(me().clock, me().loaded) - start_; }

void Caches::clear_looks(Rank& rank) {
  rank.looks = 0;
  rank.watched.clear();
}

void Caches::load(const Word& begin, std::size_t bytes, bool is_looked_at) {
  const Key last = key_of({begin.segment, begin.offset + std::max<std::size_t>(bytes, 1) - 1});
  for (Key key = key_of(begin); key <= last; ++key) load_line(key, is_looked_at);
}

void Caches::load_line(Key key, bool is_looked_at) {
  Rank& rank = me();
  const auto core = place_of(scheduler_.rank());
  bool waited = true;
  while (waited) {
    rank.clock += prices_.look;
    await_turn();
    Line& line = lines_[key];
    const bool has = line.holders[core] || (line.old_holders[core] && rank.clock < line.seen_at);
    if (!has) fetch(rank, key, line);
    waited = has && is_looked_at && has_waited(rank, key);
    rank.last = key;
  }
}

/// Looks at a line that the core holds, or that is under way to it. Returns true if the rank has waited for a change.
bool Caches::has_waited(Rank& rank, Key key) {
  for (const auto& [fetched, at] : rank.fetched)
    if (fetched == key) rank.clock = std::max(rank.clock, at);
  std::erase_if(rank.fetched, [&](const auto& under_way) { return under_way.second <= rank.clock; });
  if (std::find(rank.watched.begin(), rank.watched.end(), key) == rank.watched.end()) rank.watched.push_back(key);
  if (++rank.looks < looks_before_wait * (rank.watched.size() + 1)) return false;
  wait_for_change(rank);
  return true;
}

void Caches::wait_for_change(Rank& rank) {
  double soonest = 0;
  for (const Key key : rank.watched) {
    Line& line = lines_[key];
    if (line.seen_at > rank.clock) soonest = soonest == 0 ? line.seen_at : std::min(soonest, line.seen_at);
    line.waiting.push_back(scheduler_.rank());
  }
  clear_looks(rank);
  if (soonest > 0) {
    rank.clock = soonest;
    return;
  }
  rank.waits = true;
  scheduler_.stop();
}

void Caches::wake(Line& line) {
  for (const int number : line.waiting) {
    Rank& rank = ranks_[place_of(number)];
    if (!rank.waits) continue;
    rank.waits = false;
    rank.clock = std::max(rank.clock, line.seen_at);
  }
  line.waiting.clear();
}

void Caches::fetch(Rank& rank, Key key, Line& line) {
  const int core = scheduler_.rank();
  const Distance from = source_of(line, core);
  // A core that looks again at a line waits for it, and goes on only when it is there.
  const bool waits = rank.last == key;
  double start = std::max({rank.clock, rank.next_load, line.free_at, line.seen_at});
  start = pass(from, core, start);
  const double there = start + prices_.fetch(from);
  line.free_at = start + prices_.queue * prices_.at(from);
  line.holders.set(place_of(core));
  rank.next_load = start + prices_.further * prices_.at(from);
  rank.loaded = std::max(rank.loaded, there);
  rank.fetched.emplace_back(key, there);
  if (waits) rank.clock = there;
  ++moved_.lines[static_cast<std::size_t>(from)];
  clear_looks(rank);
}

Distance Caches::source_of(const Line& line, int core) const {
  if (line.owner < 0 || line.owner == core) return Distance::cache;
  for (int other = prices_.cache_of(core) * prices_.cores, left = prices_.cores; left > 0; --left, ++other)
    if (place_of(other) < ranks_.size() && line.holders[place_of(other)]) return Distance::cache;
  return prices_.between(line.owner, core);
}

Distance Caches::farthest_holder(const Line& line, int core) const {
  Distance farthest = Distance::own;
  for (int other = 0; place_of(other) < ranks_.size(); ++other)
    if (line.holders[place_of(other)]) farthest = std::max(farthest, prices_.between(core, other));
  return farthest;
}

/// The time at which a line of other caches or sockets gets through.
double Caches::pass(Distance distance, int core, double time) {
  if (distance <= Distance::cache) return time;
  double& port = ports_[place_of(prices_.cache_of(core))];
  time = std::max(time, port);
  port = time + prices_.port;
  if (distance != Distance::node) return time;
  double& link = links_[place_of(prices_.socket_of(core))];
  time = std::max(time, link);
  link = time + prices_.link;
  return time;
}

std::uint64_t Caches::seen(const Word& word, std::uint64_t newest) const {
  const auto at = lines_.find(key_of(word));
  if (at == lines_.end()) return newest;
  const Line& line = at->second;
  const auto core = place_of(scheduler_.rank());
  if (line.holders[core] || !line.old_holders[core] || me().clock >= line.seen_at) return newest;
  for (const Old& old : line.old)
    if (old.offset == word.offset) return old.value;
  return newest;
}

void Caches::store(const Word& begin, std::size_t bytes) {
  const Key last = key_of({begin.segment, begin.offset + std::max<std::size_t>(bytes, 1) - 1});
  for (Key key = key_of(begin); key <= last; ++key) store_line(key, false);
}

void Caches::change(const Word& word) {
  fence();
  store_line(key_of(word), true);
}

void Caches::keep(const Word& word, std::uint64_t before) { lines_[key_of(word)].old.push_back({word.offset, before}); }

void Caches::store_line(Key key, bool waits) {
  Rank& rank = me();
  const int core = scheduler_.rank();
  rank.clock = std::max(rank.clock, rank.loaded) + prices_.look;
  await_turn();
  scheduler_.tell();
  Line& line = lines_[key];
  const Distance from = farthest_holder(line, core);
  double owned = rank.clock;
  if (from != Distance::own) {
    const double start = std::max({rank.clock, rank.next_store, line.free_at, line.seen_at});
    const bool has = line.holders[place_of(core)];
    owned = start + (has ? prices_.take(from) : std::max(prices_.take(from), prices_.fetch(from)));
    rank.next_store = start + prices_.further * prices_.at(from);
    ++moved_.taken[static_cast<std::size_t>(from)];
  }
  if (rank.clock >= line.seen_at) {
    line.old_holders.reset();
    line.old.clear();
  }
  line.old_holders |= line.holders;
  line.old_holders.reset(place_of(core));
  line.holders.reset();
  line.holders.set(place_of(core));
  line.owner = core;
  rank.stored = line.seen_at = std::max(owned, rank.stored);
  line.free_at = std::max(line.free_at, owned);
  if (waits) rank.clock = line.seen_at;
  rank.last = ~Key{0};
  clear_looks(rank);
  wake(line);
}

void Caches::fence() {
  Rank& rank = me();
  rank.clock = std::max({rank.clock, rank.loaded, rank.stored});
}

}  // namespace tutti::simulation
