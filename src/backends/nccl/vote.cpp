// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/vote.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "call/deferred_free.hpp"
#include "core/mpi_call.hpp"

namespace tutti::detail::nccl {
namespace {

bool is_complete(MPI_Request& request) {
  int done = 0;
  check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
  return done != 0;
}

template <std::size_t N>
void keep_text(std::array<char, N>& to, std::string_view text) {
  to = {};
  std::copy_n(text.data(), std::min(text.size(), N - 1), to.data());
}

}  // namespace

Vote::Vote(const Context& comm, std::chrono::nanoseconds patience)
    : comm_(&comm),
      tag_(comm.vote_tag()),
      patience_(patience),
      begin_(std::chrono::steady_clock::now()),
      messages_(std::make_unique<Messages>()) {
  Messages& m = *messages_;
  const auto size = static_cast<std::size_t>(comm.size);
  m.ballots.resize(comm.rank == 0 ? size : 1);
  m.incoming.assign(comm.rank == 0 ? size : 1, MPI_REQUEST_NULL);
  for (std::size_t i = comm.rank == 0 ? 1 : 0; i < m.incoming.size(); ++i) {
    Ballot& into = comm.rank == 0 ? m.ballots[i] : m.decision;
    check_mpi(MPI_Irecv(&into, sizeof into, MPI_BYTE, static_cast<int>(comm.rank == 0 ? i : 0), tag_,
                        comm.messages.get(), &m.incoming[i]),
              "MPI_Irecv");
  }
}

Vote::~Vote() {
  const auto is_open = [](MPI_Request request) { return request != MPI_REQUEST_NULL; };
  if (std::ranges::any_of(messages_->incoming, is_open) || std::ranges::any_of(messages_->outgoing, is_open))
    defer_free(std::move(messages_));
}

void Vote::cast(bool success, std::string_view why) {
  has_cast_ = true;
  Messages& m = *messages_;
  Ballot& mine = m.ballots.front();
  mine.rank = comm_->rank;
  mine.success = success ? 1 : 0;
  keep_text(mine.why, why);
  if (comm_->rank == 0) return;
  m.outgoing.push_back(MPI_REQUEST_NULL);
  check_mpi(MPI_Isend(&mine, sizeof mine, MPI_BYTE, 0, tag_, comm_->messages.get(), &m.outgoing.back()), "MPI_Isend");
}

bool Vote::is_expired() const { return patience_.count() > 0 && std::chrono::steady_clock::now() - begin_ > patience_; }

/// The decision that follows from the votes so far, if any. On rank 0.
std::optional<Vote::Ballot> Vote::count() {
  Messages& m = *messages_;
  bool all = has_cast_;
  std::optional<int> silent;
  for (std::size_t i = 0; i < m.ballots.size(); ++i) {
    const bool is_here = i == 0 ? has_cast_ : is_complete(m.incoming[i]);
    if (is_here && m.ballots[i].success == 0) return m.ballots[i];
    if (!is_here && !silent) silent = static_cast<int>(i);
    all = all && is_here;
  }
  if (all) return Ballot{0, 1, {}};
  if (!is_expired()) return std::nullopt;
  Ballot nobody{*silent, 0, {}};
  keep_text(nobody.why, "did not answer in time");
  return nobody;
}

void Vote::decide(const Ballot& ballot) {
  Messages& m = *messages_;
  m.decision = ballot;
  m.outgoing.assign(m.ballots.size(), MPI_REQUEST_NULL);
  for (std::size_t i = 1; i < m.ballots.size(); ++i)
    check_mpi(MPI_Isend(&m.decision, sizeof m.decision, MPI_BYTE, static_cast<int>(i), tag_, comm_->messages.get(),
                        &m.outgoing[i]),
              "MPI_Isend");
}

std::optional<Vote::Decision> Vote::poll() {
  Messages& m = *messages_;
  if (!is_decided_ && comm_->rank == 0) {
    if (const auto ballot = count()) {
      decide(*ballot);
      is_decided_ = true;
    }
  } else if (!is_decided_) {
    is_decided_ = is_complete(m.incoming.front());
    // Rank 0 decides first if it can.
    if (!is_decided_ && patience_.count() > 0 && std::chrono::steady_clock::now() - begin_ > 2 * patience_)
      return Decision{false, "rank 0: did not answer in time"};
  }
  if (!is_decided_) return std::nullopt;
  if (m.decision.success != 0) return Decision{true, {}};
  return Decision{false, fmt::format("rank {}: {}", m.decision.rank, m.decision.why.data())};
}

bool Vote::is_settled() {
  if (is_expired()) return true;
  const auto done = [](MPI_Request& request) { return is_complete(request); };
  return std::ranges::all_of(messages_->outgoing, done) && std::ranges::all_of(messages_->incoming, done);
}

}  // namespace tutti::detail::nccl
