// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "call/node_call.hpp"
#include "call/node_times.hpp"
#include "planner/candidates.hpp"
#include "schedules/phase_choice.hpp"
#include "tools/rounds.hpp"

namespace tutti::tools {
namespace {

using detail::Link;
using schedules::Cost;
using schedules::Round;
using schedules::Schedule;
using schedules::Transfer;

/// A round of a rank.
struct RoundOf {
  int rank = 0;
  std::size_t round = 0;
};

/// The messages of a round that go over one level.
struct Traffic {
  std::size_t sent = 0;
  std::size_t received = 0;
  std::size_t messages_out = 0;
  std::size_t messages_in = 0;

  void add(const Transfer& transfer) {
    const bool is_sent = transfer.kind == Transfer::Kind::send;
    (is_sent ? sent : received) += transfer.slice.count;
    (is_sent ? messages_out : messages_in) += 1;
  }
  [[nodiscard]] std::size_t messages() const { return std::max(messages_out, messages_in); }
  [[nodiscard]] bool both_ways() const { return messages_out > 0 && messages_in > 0; }
};

/// The model's prices of single rounds.
class Prices {
 public:
  Prices(const Case& call, const schedules::Algorithm& algorithm, const std::vector<Schedule>& schedules)
      : call_(call),
        machine_(call.machine()),
        links_(links_of(machine_)),
        unit_(static_cast<double>(call.signature.type.size())),
        hidden_(algorithm.hierarchical ? schedules::mostly_hidden : hidden_part(algorithm)),
        node_times_(call_.signature, machine_, detail::candidates) {
    find_prices(schedules);
  }

  [[nodiscard]] bool is_long(const Transfer& transfer, int rank) const {
    const Link& link = links_[level(rank, transfer.peer)];
    return link.eager > 0 && static_cast<double>(transfer.slice.count) * unit_ > link.eager;
  }

  /// Of the messages of a round, from its begin.
  [[nodiscard]] double passing(const RoundOf& one) const {
    return passing_[static_cast<std::size_t>(one.rank)][one.round];
  }

  /// Of the local work of a round.
  [[nodiscard]] double local(const Round& round) const {
    Cost cost;
    for (const schedules::Local& local : round.locals)
      if (local.kind == schedules::Local::Kind::reduce)
        cost.reduced_bytes += static_cast<double>(local.inputs.size() * local.output.count) * unit_;
      else if (local.inputs.front() != local.output)
        cost.copied_bytes += static_cast<double>(local.output.count) * unit_;
    return seconds(cost, links_[machine_.on_node], {}, 0);
  }

  /// As on the largest node.
  [[nodiscard]] double exchange(const schedules::Exchange& exchange) {
    const int ranks = std::ranges::max(call_.surroundings.topology.ranks_per_node);
    const detail::Signature signature = node_signature(exchange, call_.signature);
    const std::size_t blocks = tutti::has_equal_blocks(signature.operation) ? static_cast<std::size_t>(ranks) : 1;
    const auto sum = [](const auto& counts) { return std::reduce(counts.begin(), counts.end(), std::size_t{0}); };
    const std::size_t count =
        std::max({signature.count * blocks, sum(exchange.send_counts), sum(exchange.recv_counts)});
    return node_times_.seconds({exchange.operation, static_cast<double>(count) * unit_}, ranks);
  }

  [[nodiscard]] int node(int rank) const { return call_.node_of.empty() ? 0 : call_.node_of.node(rank); }

 private:
  [[nodiscard]] detail::LinkLevel level(int a, int b) const {
    return node(a) == node(b) ? machine_.on_node : detail::LinkLevel::network;
  }
  [[nodiscard]] Traffic traffic(int rank, const Round& round, detail::LinkLevel over) const {
    Traffic found;
    for (const Transfer& transfer : round.transfers)
      if (level(rank, transfer.peer) == over) found.add(transfer);
    return found;
  }

  /// The ranks of a node that have messages over the network, or on it, in the rounds of one number share it.
  void find_prices(const std::vector<Schedule>& schedules) {
    std::map<std::tuple<int, std::size_t, detail::LinkLevel>, double> senders;
    const auto for_each = [&](const auto& body) {
      for (std::size_t rank = 0; rank < schedules.size(); ++rank)
        for (std::size_t i = 0; i < schedules[rank].rounds.size(); ++i)
          for (const detail::LinkLevel over : {machine_.on_node, detail::LinkLevel::network}) {
            const Traffic moved = traffic(static_cast<int>(rank), schedules[rank].rounds[i], over);
            if (moved.messages() > 0) body(rank, i, over, moved, senders[{node(static_cast<int>(rank)), i, over}]);
          }
    };
    for_each([](auto, auto, auto, const Traffic&, double& of_node) { ++of_node; });
    for (const Schedule& schedule : schedules) passing_.emplace_back(schedule.rounds.size(), 0.0);
    for_each([this](std::size_t rank, std::size_t i, detail::LinkLevel over, const Traffic& moved, double of_node) {
      passing_[rank][i] = std::max(passing_[rank][i], passing(moved, over, of_node));
    });
  }

  [[nodiscard]] double passing(const Traffic& moved, detail::LinkLevel over, double senders) const {
    const Cost cost{.rounds = 1,
                    .bytes = static_cast<double>(std::max(moved.sent, moved.received)) * unit_,
                    .messages = static_cast<double>(moved.messages())};
    Link link = links_[over];
    if (!moved.both_ways()) link.rate = passing_rate_of(link);
    if (link.eager > 0 && cost.bytes / cost.messages > link.eager) link.latency = link.long_latency;
    const detail::Crowd crowd{.senders = senders, .both_ways = moved.both_ways(), .hidden = hidden_, .factors = {}};
    return seconds(cost, link, crowd, machine_.oversubscribed ? links_.switching : 0);
  }

  const Case& call_;
  detail::Machine machine_;
  detail::Links links_;
  double unit_;
  double hidden_;
  detail::NodeTimes node_times_;
  std::vector<std::vector<double>> passing_{};
};

/// The ends of all rounds, found in the order in which they depend on one another.
class Timeline {
 public:
  Timeline(Prices& prices, const std::vector<Schedule>& schedules)
      : prices_(prices), schedules_(schedules), times_(schedules.size()) {
    match_messages();
    match_exchanges();
  }

  std::vector<RankTimes> run() && {
    for (bool moves = true; moves;) {
      moves = false;
      for (int rank = 0; rank < static_cast<int>(times_.size()); ++rank)
        while (can_end({rank, times(rank).ends.size()})) {
          end_next(rank);
          moves = true;
        }
    }
    for (RankTimes& one : times_) one.end = one.ends.empty() ? 0 : one.ends.back();
    return std::move(times_);
  }

 private:
  using Key = std::pair<int, std::size_t>;  ///< a rank and its round

  [[nodiscard]] RankTimes& times(int rank) { return times_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] const Round& round_of(const RoundOf& one) const {
    return schedules_[static_cast<std::size_t>(one.rank)].rounds[one.round];
  }

  /// The messages of two ranks match in their order. The receiver waits for its sender, and the sender of a long one
  /// for its receiver.
  void match_messages() {
    struct End {
      RoundOf place;
      const Transfer* transfer;
    };
    std::map<std::tuple<int, int, bool>, std::vector<End>> ends;  // sender, receiver, which of them
    for_each_round([&](const RoundOf& one, const Round& round) {
      for (const Transfer& transfer : round.transfers) {
        const bool is_sent = transfer.kind == Transfer::Kind::send;
        ends[{is_sent ? one.rank : transfer.peer, is_sent ? transfer.peer : one.rank, is_sent}].push_back(
            {one, &transfer});
      }
    });
    for (const auto& [key, sends] : ends) {
      if (!std::get<2>(key)) continue;
      const std::vector<End>& receives = ends[{std::get<0>(key), std::get<1>(key), false}];
      for (std::size_t i = 0; i < std::min(sends.size(), receives.size()); ++i) {
        const End& send = sends[i];
        const RoundOf receive = receives[i].place;
        awaited_[{receive.rank, receive.round}].push_back(send.place);
        if (prices_.is_long(*send.transfer, send.place.rank))
          awaited_[{send.place.rank, send.place.round}].push_back(receive);
      }
    }
  }

  /// The n-th exchanges of the ranks of a node are one.
  void match_exchanges() {
    std::map<std::pair<int, std::size_t>, std::vector<RoundOf>> exchanges;
    std::map<int, std::size_t> numbers;
    for_each_round([&](const RoundOf& one, const Round& round) {
      if (round.exchange) exchanges[{prices_.node(one.rank), numbers[one.rank]++}].push_back(one);
    });
    for (const auto& [key, members] : exchanges)
      for (const RoundOf& one : members) members_[{one.rank, one.round}] = members;
  }

  template <typename Body>
  void for_each_round(const Body& body) const {
    for (std::size_t rank = 0; rank < schedules_.size(); ++rank)
      for (std::size_t round = 0; round < schedules_[rank].rounds.size(); ++round)
        body({static_cast<int>(rank), round}, schedules_[rank].rounds[round]);
  }

  [[nodiscard]] bool has_begun(const RoundOf& one) { return one.round <= times(one.rank).ends.size(); }

  [[nodiscard]] bool can_end(const RoundOf& one) {
    if (one.round == schedules_[static_cast<std::size_t>(one.rank)].rounds.size()) return false;
    const auto begun = [this](const RoundOf& other) { return has_begun(other); };
    const Key key{one.rank, one.round};
    return std::ranges::all_of(awaited_[key], begun) && std::ranges::all_of(members_[key], begun);
  }

  void end_next(int rank) {
    const RoundOf one{rank, times(rank).ends.size()};
    const Key key{one.rank, one.round};
    const auto begin = [this](const RoundOf& of) { return begin_of(times(of.rank), of.round); };
    double end = begin(one) + prices_.passing(one);
    for (const RoundOf& other : awaited_[key]) end = std::max(end, begin(other) + prices_.passing(other));
    const Round& round = round_of(one);
    if (round.exchange) {
      const std::vector<RoundOf>& all = members_[key];
      const double seconds = prices_.exchange(*round.exchange);
      for (const RoundOf& other : all) end = std::max(end, begin(other) + seconds);
    }
    times(rank).ends.push_back(end + prices_.local(round));
  }

  Prices& prices_;
  const std::vector<Schedule>& schedules_;
  std::vector<RankTimes> times_;
  std::map<Key, std::vector<RoundOf>> awaited_{};
  std::map<Key, std::vector<RoundOf>> members_{};  ///< of the exchange of a round
};

}  // namespace

std::vector<RankTimes> predicted_rounds(const Case& call, const schedules::Algorithm& algorithm,
                                        const std::vector<Schedule>& schedules) {
  Prices prices(call, algorithm, schedules);
  return Timeline(prices, schedules).run();
}

}  // namespace tutti::tools
