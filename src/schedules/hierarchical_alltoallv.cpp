// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include "schedules/algorithms.hpp"
#include "schedules/hierarchical.hpp"
#include "schedules/levels.hpp"
#include "schedules/node_traffic.hpp"

namespace tutti::schedules {
namespace {

/// What this rank exchanges with each rank of its node, one block behind another.
template <typename CountOf>
CountLists row_of(const Layout& l, const CountOf& count_of) {
  std::vector<std::size_t> counts;
  for (int index = 0; index < l.node_size(); ++index) counts.push_back(count_of(index));
  return CountLists(packed_blocks(counts));
}

std::size_t total_of(const CountLists& row) { return row.counts.back() + row.displs.back(); }

void exchange_on_node(Composer& c, const Layout& l, const CountLists& send, const CountLists& recv, const Slice& in,
                      const Slice& out, Start start = Start::after) {
  Problem p = problem_in_group(l.index(), l.members().size(), 0, 0);
  p.send_counts = send.counts;
  p.send_displs = send.displs;
  p.recv_counts = recv.counts;
  p.recv_displs = recv.displs;
  on_node(c, l, {Operation::alltoallv, alltoallv_direct}, p, in, out, start);
}

/// Hands out a slice from its begin.
class Cursor {
 public:
  explicit Cursor(const Slice& slice) : slice_(slice) {}
  [[nodiscard]] Slice next(std::size_t count) { return part_of(slice_, std::exchange(end_, end_ + count), count); }

 private:
  Slice slice_;
  std::size_t end_ = 0;
};

std::vector<Cursor> cursors(const CountLists& row, const Slice& slice) {
  std::vector<Cursor> all;
  for (std::size_t i = 0; i < row.counts.size(); ++i) all.emplace_back(part_of(slice, row.displs[i], row.counts[i]));
  return all;
}

/// One call: what it moves, and the staging areas between its phases.
class AllToAll {
 public:
  explicit AllToAll(const Problem& p)
      : l_(p),
        sent_(l_, p, NodeTraffic::Direction::sent),
        received_(l_, p, NodeTraffic::Direction::received),
        send_(placed_blocks(p.send_counts, p.send_displs)),
        recv_(placed_blocks(p.recv_counts, p.recv_displs)),
        given_(row_of(l_, [&](int to) { return sent_.through(l_.index(), to); })),
        taken_(row_of(l_, [&](int from) { return sent_.through(from, l_.index()); })),
        dealt_(row_of(l_, [&](int to) { return received_.through(to, l_.index()); })),
        got_(row_of(l_, [&](int from) { return received_.through(l_.index(), from); })),
        packed_(c_.reserve(total_of(given_))),
        gathered_(c_.reserve(total_of(taken_))),
        outgoing_(c_.reserve(total_of(taken_))),
        incoming_(c_.reserve(total_of(dealt_))),
        sorted_(c_.reserve(total_of(dealt_))),
        arrived_(c_.reserve(total_of(got_))) {}

  Schedule generate() {
    collect();
    cross();
    stay();
    deliver();
    return c_.finish(false);
  }

 private:
  [[nodiscard]] const Block& sent_to(int rank) const { return send_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] const Block& received_from(int rank) const { return recv_[static_cast<std::size_t>(rank)]; }

  /// Each rank gives its blocks to their carriers, which put them in the order of a message: by sender.
  void collect() {
    Cursor packed(packed_);
    for (int carrier = 0; carrier < l_.node_size(); ++carrier)
      for (const int node : sent_.carried_by(carrier))
        for (const int rank : l_.members(node)) c_.copy(input(sent_to(rank)), packed.next(sent_to(rank).count));
    if (sent_.has_joined()) exchange_on_node(c_, l_, given_, taken_, packed_, gathered_);
    Cursor outgoing(outgoing_);
    std::vector<Cursor> gathered = cursors(taken_, gathered_);
    for (const int node : sent_.carried_by(l_.index()))
      for (int sender = 0; sender < l_.node_size(); ++sender) {
        const std::size_t count = sent_.with_node(sender, node);
        c_.copy(gathered[static_cast<std::size_t>(sender)].next(count), outgoing.next(count));
      }
    c_.end_round();
  }

  /// The messages between nodes.
  void cross() {
    Cursor incoming(incoming_);
    for (const int node : received_.carried_by(l_.index()))
      c_.recv(carrier_of(l_, node, l_.node()), incoming.next(received_.of_node(node)));
    for (int node = 0; node < l_.nodes(); ++node) {
      if (node == l_.node() || received_.is_joined(node)) continue;
      for (const int rank : l_.members(node)) c_.recv(rank, output(received_from(rank)));
    }
    Cursor outgoing(outgoing_);
    for (const int node : sent_.carried_by(l_.index()))
      c_.send(carrier_of(l_, node, l_.node()), outgoing.next(sent_.of_node(node)));
    for (int node = 0; node < l_.nodes(); ++node) {
      if (node == l_.node() || sent_.is_joined(node)) continue;
      for (const int rank : l_.members(node)) c_.send(rank, input(sent_to(rank)));
    }
  }

  /// Beside them, the blocks between ranks of this node.
  void stay() {
    const CountLists send(of_members(l_, send_));
    const CountLists recv(of_members(l_, recv_));
    exchange_on_node(c_, l_, send, recv, input(0, end_of(send_)), output(0, end_of(recv_)), Start::beside);
  }

  /// Carriers sort what has come by receiver, and give each its blocks.
  void deliver() {
    Cursor incoming(incoming_);
    std::vector<Cursor> sorted = cursors(dealt_, sorted_);
    for (const int node : received_.carried_by(l_.index()))
      for (const int sender : l_.members(node))
        for (int receiver = 0; receiver < l_.node_size(); ++receiver) {
          const std::size_t count = received_.with_rank(receiver, sender);
          c_.copy(incoming.next(count), sorted[static_cast<std::size_t>(receiver)].next(count));
        }
    if (received_.has_joined()) exchange_on_node(c_, l_, dealt_, got_, sorted_, arrived_);
    Cursor arrived(arrived_);
    for (int carrier = 0; carrier < l_.node_size(); ++carrier)
      for (const int node : received_.carried_by(carrier))
        for (const int rank : l_.members(node))
          c_.copy(arrived.next(received_from(rank).count), output(received_from(rank)));
  }

  Layout l_;
  NodeTraffic sent_;
  NodeTraffic received_;
  Blocks send_;
  Blocks recv_;
  CountLists given_;  ///< to carriers
  CountLists taken_;  ///< as a carrier
  CountLists dealt_;  ///< by this carrier
  CountLists got_;    ///< from carriers
  Composer c_;
  Slice packed_;
  Slice gathered_;
  Slice outgoing_;
  Slice incoming_;
  Slice sorted_;
  Slice arrived_;
};

}  // namespace

Schedule alltoallv_hierarchical(const Problem& p) { return AllToAll(p).generate(); }

LevelCost alltoallv_hierarchical_cost(const Spread& s, double bytes) {
  const double told = sizeof(std::size_t) * 2.0 * s.size * s.most;
  const double senders = s.most;
  const PhaseCost node{alltoall_direct_cost(s.most, bytes), senders};
  return {{node, node, node},
          {alltoall_direct_cost(s.nodes, bytes), senders},
          {{Operation::allgather, told},
           {Operation::alltoall, bytes},
           {Operation::alltoall, bytes},
           {Operation::alltoall, bytes}},
          copies(5 * bytes)};
}

}  // namespace tutti::schedules
