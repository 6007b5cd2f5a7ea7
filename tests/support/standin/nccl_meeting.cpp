// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstring>
#include <set>

#include "support/standin/nccl_state.hpp"

namespace tutti::standin {

Meeting::Meeting(std::uint64_t id, int creator, int rank, int size, Uuid device)
    : id_(id), creator_(creator), rank_(rank), roster_(std::make_shared<std::vector<Hello>>(size)) {
  auto& roster = *roster_;
  roster[0] = {rank, 0, device};
  if (wire() == MPI_COMM_NULL) return;
  MPI_Comm_rank(wire(), &roster[0].world);
  if (size == 1) return;
  const int tag = tag_of(id, Channel::init);
  requests_.assign(static_cast<std::size_t>(rank == 0 ? size - 1 : 2), MPI_REQUEST_NULL);
  if (rank == 0) {
    for (std::size_t i = 1; i < roster.size(); ++i)
      MPI_Irecv(&roster[i], sizeof(Hello), MPI_BYTE, MPI_ANY_SOURCE, tag, wire(), &requests_[i - 1]);
  } else {
    const auto mine = std::make_shared<Hello>(roster[0]);
    MPI_Request sent = MPI_REQUEST_NULL;
    MPI_Isend(mine.get(), sizeof(Hello), MPI_BYTE, creator, tag, wire(), &sent);
    give_up(sent, mine);
    MPI_Irecv(roster.data(), static_cast<int>(roster.size() * sizeof(Hello)), MPI_BYTE, creator, tag, wire(),
              &requests_[0]);
  }
}

Meeting::~Meeting() {
  for (auto& request : requests_) give_up_receive(request, roster_);
}

bool Meeting::advance(Members& members) {
  for (auto& request : requests_)
    if (!is_done(request)) return false;
  auto& roster = *roster_;
  if (rank_ == 0 && !told_) {
    told_ = true;
    std::sort(roster.begin(), roster.end(), [](const Hello& a, const Hello& b) { return a.rank < b.rank; });
    for (std::size_t i = 1; i < roster.size(); ++i) {
      MPI_Request sent = MPI_REQUEST_NULL;
      MPI_Isend(roster.data(), static_cast<int>(roster.size() * sizeof(Hello)), MPI_BYTE, roster[i].world,
                tag_of(id_, Channel::init), wire(), &sent);
      give_up(sent, roster_);
    }
  }
  std::set<Uuid> devices;
  members = {id_, rank_, {}};
  for (const auto& hello : roster) {
    members.world.push_back(hello.world);
    devices.insert(hello.device);
  }
  shares_devices_ = devices.size() < roster.size();
  return true;
}

NcclSplit::NcclSplit(const Members& whole, const Choice& choice) : exchange(whole), own(choice) {
  Bytes bytes(sizeof choice);
  std::memcpy(bytes.data(), &choice, sizeof choice);
  for (int peer = 0; peer < whole.size(); ++peer) {
    if (peer == whole.rank) continue;
    exchange.send_header(peer, bytes, Channel::split);
    (void)exchange.receive_header(peer, sizeof choice, Channel::split);
  }
}

Members NcclSplit::members(const Members& whole) const {
  struct Member {
    Choice choice{};
    int rank = 0;
  };
  std::vector<Member> part;
  std::size_t arrival = 0;
  for (int rank = 0; rank < whole.size(); ++rank) {
    Choice choice = own;
    if (rank != whole.rank) std::memcpy(&choice, exchange.received(arrival++).data(), sizeof choice);
    if (choice.color == own.color) part.push_back({choice, rank});
  }
  std::stable_sort(part.begin(), part.end(),
                   [](const Member& a, const Member& b) { return a.choice.key < b.choice.key; });
  Members found{part.front().choice.id, 0, {}};
  for (std::size_t i = 0; i < part.size(); ++i) {
    if (part[i].rank == whole.rank) found.rank = static_cast<int>(i);
    found.world.push_back(whole.world[static_cast<std::size_t>(part[i].rank)]);
  }
  return found;
}

}  // namespace tutti::standin
