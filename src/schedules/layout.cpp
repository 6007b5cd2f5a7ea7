// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/layout.hpp"

namespace tutti::schedules {
namespace {

Spread spread_in(const Problem& p) {
  Spread spread = p.node_of == nullptr ? spread_of({}, p.size) : spread_of(*p.node_of, p.size);
  spread.starts = p.starts;
  return spread;
}

}  // namespace

Layout::Layout(const Problem& p, Leaders rule)
    : rank_(p.rank),
      size_(p.size),
      spread_(spread_in(p)),
      shares_nodes_(p.shares_nodes),
      element_size_(p.element_size) {
  if (rule == Leaders::root) root_ = p.root;
  if (!spread_.even() || !spread_.adjacent) tables_ = tabulate(*p.node_of);
}

std::shared_ptr<const Layout::Tables> Layout::tabulate(const NodeMap& map) const {
  auto tables = std::make_shared<Tables>();
  tables->members.resize(static_cast<std::size_t>(map.nodes()));
  for (int rank = 0; rank < size_; ++rank) {
    const int node = map.node(rank);
    Ranks& members = tables->members[static_cast<std::size_t>(node)];
    tables->nodes_of.push_back(node);
    tables->indices.push_back(static_cast<int>(members.size()));
    members.push_back(rank);
  }
  const auto index = static_cast<std::size_t>(tables->indices[static_cast<std::size_t>(rank_)]);
  for (const Ranks& members : tables->members) {
    tables->firsts.push_back(tables->order.size());
    tables->order.insert(tables->order.end(), members.begin(), members.end());
    tables->leaders.push_back(members.front());
    tables->last_members.push_back(members.back());
    if (index < members.size()) tables->peers.push_back(members[index]);
  }
  return tables;
}

int Layout::node_of(int rank) const {
  return tables_ ? tables_->nodes_of[static_cast<std::size_t>(rank)] : rank / spread_.most;
}

int Layout::index_of(int rank) const {
  return tables_ ? tables_->indices[static_cast<std::size_t>(rank)] : rank % spread_.most;
}

RankList Layout::members(int node) const {
  if (tables_) return {tables_->members[static_cast<std::size_t>(node)]};
  return {node * spread_.most, 1, spread_.most};
}

RankList Layout::leaders() const {
  const RankList lowest = tables_ ? RankList(tables_->leaders) : RankList(0, spread_.most, spread_.nodes);
  return root_ < 0 ? lowest : lowest.with(node_of(root_), root_);
}

RankList Layout::peers() const {
  return tables_ ? RankList(tables_->peers) : RankList(index(), spread_.most, spread_.nodes);
}

RankList Layout::last_members() const {
  return tables_ ? RankList(tables_->last_members) : RankList(spread_.most - 1, spread_.most, spread_.nodes);
}

RankList Layout::order() const { return tables_ ? RankList(tables_->order) : RankList(0, 1, size_); }

std::size_t Layout::first_of(int node) const {
  const auto n = static_cast<std::size_t>(node);
  return tables_ ? tables_->firsts[n] : n * static_cast<std::size_t>(spread_.most);
}

Spread spread_of(const NodeMap& node_of, int size) {
  if (node_of.empty()) return {size, 1, size, size, true};
  return {size, node_of.nodes(), node_of.most(), node_of.least(), node_of.is_adjacent()};
}

bool meets(const Spread& spread, LayoutNeed need) {
  switch (need) {
    case LayoutNeed::even:
      return spread.even();
    case LayoutNeed::adjacent:
      return spread.adjacent;
    case LayoutNeed::none:
      break;
  }
  return true;
}

}  // namespace tutti::schedules
