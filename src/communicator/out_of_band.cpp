// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "call/agreement.hpp"
#include "core/config.hpp"
#include "diagnosis/hosts.hpp"
#include "outofband/endpoint.hpp"
#include "outofband/interfaces.hpp"

namespace tutti::detail {
namespace {

using outofband::Card;
using outofband::Endpoint;
using outofband::Token;

/// For all connections of a new communicator together.
constexpr std::chrono::seconds patience{5};

using Space = std::pair<std::uint64_t, std::uint64_t>;

Space space_of(const ProcessIdentity& one) { return {one.machine, one.space}; }

bool all_see_one_another(std::span<const ProcessIdentity> all) {
  return std::all_of(all.begin(), all.end(), [&](const ProcessIdentity& one) { return all[0].sees(one); });
}

/// The first rank of each host or PID namespace but this rank's own.
std::vector<flight::Host> hosts_of(std::span<const ProcessIdentity> all, std::span<const Card> cards, int rank,
                                   const Token& token) {
  const ProcessIdentity& own = all[static_cast<std::size_t>(rank)];
  std::set<Space> known{space_of(own)};
  std::vector<flight::Host> hosts;
  for (std::size_t r = 0; r < all.size(); ++r)
    if (cards[r].count != 0 && known.insert(space_of(all[r])).second) hosts.push_back({cards[r], token, own.number});
  return hosts;
}

void log_unseen(std::string_view problem) {
  log_once(fmt::format("the end of ranks on other nodes is not seen, in spite of TUTTI_HEARTBEAT: {}", problem));
}

}  // namespace

bool meet_out_of_band(MPI_Comm from, int rank, std::span<const ProcessIdentity> all, const OutOfBand& wanted) {
  if ((!wanted.heartbeat && !wanted.hosts) || all_see_one_another(all)) return false;
  Endpoint& endpoint = Endpoint::instance();
  const auto own = static_cast<std::size_t>(rank);
  std::string problem;
  const auto interfaces = all_gather(from, all.size(), outofband::own_interfaces(all[own].machine));
  const Card card = endpoint.open(all[own].number, outofband::addresses_for(interfaces, own), problem);
  const std::vector<Card> cards = all_gather(from, all.size(), card);
  const auto first = std::find_if(cards.begin(), cards.end(), [](const Card& one) { return one.count != 0; });
  if (first == cards.end()) {
    if (wanted.heartbeat) log_unseen(problem);
    return false;
  }
  const Token& token = first->token;
  endpoint.admit(token);
  if (wanted.hosts) flight::add_hosts(hosts_of(all, cards, rank, token));
  if (!wanted.heartbeat) return false;
  if (problem.empty()) problem = endpoint.watch(cards, own, token, config().heartbeat, patience);
  const bool is_told = all_agree(from, problem.empty());
  if (!problem.empty()) log_unseen(problem);
  return is_told;
}

}  // namespace tutti::detail
