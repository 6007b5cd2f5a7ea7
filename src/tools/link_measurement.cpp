// SPDX-License-Identifier: BSD-3-Clause
#include "tools/link_measurement.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace tutti::tools {
namespace {

using detail::level_between;
using detail::LinkLevel;

constexpr int short_bytes = 8;
constexpr int long_bytes = 1 << 20;
constexpr int burst = 16;
constexpr int most_partners = 8;
constexpr int tag = 17;

/// One rank's part in measuring pairs that all work at the same time.
class Meter {
 public:
  explicit Meter(MPI_Comm comm) : comm_(comm), outgoing_(long_bytes), incoming_(long_bytes) {
    MPI_Comm_rank(comm, &rank_);
  }

  /// The time of a message: half of the way there and back, of several after one another.
  [[nodiscard]] double one_way(const Pairs& pairs, int times) {
    return worst(pairs, times, [this](int partner, bool is_first) {
      for (int i = 0; i < burst; ++i) {
        if (is_first) MPI_Send(outgoing_.data(), short_bytes, MPI_BYTE, partner, tag, comm_);
        MPI_Recv(incoming_.data(), short_bytes, MPI_BYTE, partner, tag, comm_, MPI_STATUS_IGNORE);
        if (!is_first) MPI_Send(outgoing_.data(), short_bytes, MPI_BYTE, partner, tag, comm_);
      }
      return 0.5 / burst;
    });
  }
  /// What each of many short messages that go both ways adds, for one of its ends.
  [[nodiscard]] double gap(const Pairs& pairs, int times) {
    const auto exchanges = [this](int messages) {
      return [this, messages](int partner, bool) {
        exchange({&partner, 1}, short_bytes, messages);
        return 1.0;
      };
    };
    return (worst(pairs, times, exchanges(2 * burst)) - worst(pairs, times, exchanges(burst))) / (2 * burst);
  }
  /// The rate of a rank while all these pairs exchange long messages, in bytes/s.
  [[nodiscard]] double rate(const Pairs& pairs, int times) {
    const double seconds = worst(pairs, times, [this](int partner, bool) {
      exchange({&partner, 1}, long_bytes, 1);
      return 1.0;
    });
    return long_bytes / seconds;
  }
  /// The rate of one rank that exchanges long messages with several at once.
  [[nodiscard]] double several_rate(int hub, std::span<const int> partners, int times) {
    const double seconds = worst_of(times, [&]() -> double {
      const double begin = MPI_Wtime();
      if (rank_ == hub)
        exchange(partners, long_bytes, 1);
      else if (std::find(partners.begin(), partners.end(), rank_) != partners.end())
        exchange({&hub, 1}, long_bytes, 1);
      return rank_ == hub ? MPI_Wtime() - begin : 0;
    });
    return static_cast<double>(partners.size()) * long_bytes / seconds;
  }

 private:
  /// All ranks begin together; the least over the times of the worst over the ranks.
  template <typename Once>
  [[nodiscard]] double worst_of(int times, const Once& once) {
    double least = 0;
    for (int i = 0; i < times + 2; ++i) {
      MPI_Barrier(comm_);
      double seconds = once();
      MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm_);
      constexpr int warm_ups = 2;
      if (i == warm_ups || (i > warm_ups && seconds < least)) least = seconds;
    }
    return least;
  }
  template <typename Work>
  [[nodiscard]] double worst(const Pairs& pairs, int times, const Work& work) {
    const auto [partner, is_first] = partner_in(pairs);
    return worst_of(times, [&, partner = partner, is_first = is_first]() -> double {
      if (partner < 0) return 0;
      const double begin = MPI_Wtime();
      const double share = work(partner, is_first);
      return share * (MPI_Wtime() - begin);
    });
  }
  [[nodiscard]] std::pair<int, bool> partner_in(const Pairs& pairs) const {
    for (const auto& [first, second] : pairs) {
      if (rank_ == first) return {second, true};
      if (rank_ == second) return {first, false};
    }
    return {-1, false};
  }
  void exchange(std::span<const int> partners, int bytes, int messages) {
    std::vector<MPI_Request> requests;
    incoming_.resize(std::max(incoming_.size(), partners.size() * static_cast<std::size_t>(bytes)));
    char* into = incoming_.data();
    for (const int partner : partners) {
      for (int i = 0; i < messages; ++i)
        MPI_Irecv(into, bytes, MPI_BYTE, partner, tag, comm_, &requests.emplace_back());
      into += bytes;
    }
    for (int i = 0; i < messages; ++i)
      for (const int partner : partners)
        MPI_Isend(outgoing_.data(), bytes, MPI_BYTE, partner, tag, comm_, &requests.emplace_back());
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  }

  MPI_Comm comm_;
  int rank_ = 0;
  std::vector<char> outgoing_;
  std::vector<char> incoming_;
};

/// The pairs that two nodes have, or one with itself.
Pairs pairs_between(LinkLevel level, std::span<const Place> places, int node, int other) {
  Pairs pairs;
  std::vector<bool> is_taken(places.size(), false);
  for (std::size_t a = 0; a < places.size(); ++a) {
    if (places[a].node != node || is_taken[a]) continue;
    for (std::size_t b = 0; b < places.size(); ++b) {
      if (a == b || is_taken[b] || places[b].node != other || level_between(places[a], places[b]) != level) continue;
      is_taken[a] = is_taken[b] = true;
      pairs.emplace_back(a, b);
      break;
    }
  }
  return pairs;
}

/// The ranks at that distance from the first rank of the pairs, at most so many.
std::vector<int> partners_of(int hub, LinkLevel level, std::span<const Place> places) {
  std::vector<int> partners;
  for (std::size_t rank = places.size(); rank-- > 0 && partners.size() < most_partners;)
    if (static_cast<int>(rank) != hub && level_between(places[static_cast<std::size_t>(hub)], places[rank]) == level)
      partners.push_back(static_cast<int>(rank));
  return partners;
}

LinkMeasurement measure_level(MPI_Comm comm, LinkLevel level, const Pairs& pairs, std::span<const Place> places,
                              const LinkEffort& effort) {
  Meter meter(comm);
  LinkMeasurement found{level, {}, {}};
  const Pairs one(pairs.begin(), pairs.begin() + 1);
  found.link.latency = meter.one_way(one, effort.times);
  found.link.overhead = std::max(0.0, meter.gap(one, effort.times));
  for (std::size_t k = 1;; k = std::min(2 * k, pairs.size())) {
    const Pairs some(pairs.begin(), pairs.begin() + static_cast<std::ptrdiff_t>(k));
    found.loads.push_back({static_cast<int>(k), meter.rate(some, effort.long_times)});
    if (k == pairs.size()) break;
  }
  // On a node both ends of a pair send what the node's memory carries; between nodes each is on another one.
  const double ends = level == LinkLevel::network ? 1 : 2;
  found.link.rate = found.loads.front().rate;
  for (const LinkMeasurement::Load& load : found.loads)
    found.link.shared_rate = std::max(found.link.shared_rate, ends * load.pairs * load.rate);
  const int hub = pairs.front().first;
  found.link.several_rate =
      std::max(found.link.rate, meter.several_rate(hub, partners_of(hub, level, places), effort.long_times));
  return found;
}

}  // namespace

Pairs pairs_at(LinkLevel level, std::span<const Place> places) {
  if (places.empty()) return {};
  std::map<int, int> ranks_of;
  for (const Place& place : places) ++ranks_of[place.node];
  if (level == LinkLevel::network) {
    // The first node and the last one, which are the farthest apart where ranks fill a network in order.
    if (ranks_of.size() < 2) return {};
    return pairs_between(
        level, places, places.front().node,
        places.back().node == places.front().node ? std::prev(ranks_of.end())->first : places.back().node);
  }
  Pairs most;
  for (const auto& [node, ranks] : ranks_of) {
    Pairs pairs = pairs_between(level, places, node, node);
    if (pairs.size() > most.size()) most = std::move(pairs);
  }
  return most;
}

std::vector<LinkMeasurement> measure_links(MPI_Comm comm, std::span<const Place> places, const LinkEffort& effort) {
  std::vector<LinkMeasurement> measured;
  for (std::size_t level = 0; level < detail::link_levels; ++level) {
    const Pairs pairs = pairs_at(static_cast<LinkLevel>(level), places);
    if (!pairs.empty()) measured.push_back(measure_level(comm, static_cast<LinkLevel>(level), pairs, places, effort));
  }
  return measured;
}

detail::Links links_of(std::span<const LinkMeasurement> measured) {
  detail::Links links;
  for (const LinkMeasurement& one : measured) links[one.level] = one.link;
  return links;
}

}  // namespace tutti::tools
