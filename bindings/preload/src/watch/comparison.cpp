// SPDX-License-Identifier: BSD-3-Clause
#include "watch/comparison.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <list>
#include <mutex>
#include <string_view>
#include <tutti/error.hpp>
#include <utility>
#include <vector>

#include "check/comparison.hpp"
#include "diagnosis/site_text.hpp"
#include "errors.hpp"
#include "reduction.hpp"
#include "watch/record.hpp"
#include "watch/watch.hpp"

namespace tutti::preload {

namespace check = tutti::detail::check;

namespace {

struct Peer {
  int rank = 0;
  int world = 0;
  Record mine{};
};

/// A collective of this rank, until the descriptions of its peers have come.
struct Comparison {
  std::uint64_t number = 0;
  MPI_Comm handle = MPI_COMM_NULL;
  int rank = 0;
  std::string comm{};
  std::vector<Peer> peers{};
};

struct Open {
  std::mutex mutex{};
  std::uint64_t count = 0;
  std::list<Comparison> all{};
};

// Never destroyed, because MPI may be finalized after the statics of this file.
Open& open() {
  static auto* made = new Open;
  return *made;
}

std::vector<int> compared_ranks(const Watched& comm, const Description& description) {
  std::vector<int> ranks;
  const int size = comm.size();
  const auto add = [&](int rank) {
    if (rank != comm.rank && std::find(ranks.begin(), ranks.end(), rank) == ranks.end()) ranks.push_back(rank);
  };
  const bool has_all = description.compared == Compared::all ||
                       (description.compared == Compared::with_root && description.root == comm.rank);
  if (has_all)
    for (int rank = 0; rank < size; ++rank) add(rank);
  if (description.compared == Compared::with_root) add(description.root);
  add(comm.rank + 1 < size ? comm.rank + 1 : 0);
  add(comm.rank > 0 ? comm.rank - 1 : size - 1);
  return ranks;
}

std::string text_of(const Record& record) {
  std::string details;
  if (record.type[0] != '\0') details += fmt::format(", {}", record.type.data());
  if (record.all.bytes != 0) details += fmt::format(", {} B", record.all.bytes);
  if (record.gives != 0) details += fmt::format(", gives {} B", record.given.bytes);
  if (record.expects != 0) details += fmt::format(", expects {} B", record.expected.bytes);
  if (record.op[0] != '\0') details += fmt::format(", op {}", record.op.data());
  if (record.root >= 0) details += fmt::format(", root {}", record.root);
  return tutti::detail::with_place(
      fmt::format("{}({})", record.name.data(), details.empty() ? details : details.substr(2)),
      tutti::detail::words_of(record.place.data()));
}

bool fits(const Record& mine, const Record& theirs) {
  if (mine.name != theirs.name || mine.root != theirs.root || mine.op != theirs.op) return false;
  if (!mine.all.agrees(theirs.all)) return false;
  if (mine.gives != 0 && theirs.expects != 0 && !mine.given.agrees(theirs.expected)) return false;
  return mine.expects == 0 || theirs.gives == 0 || mine.expected.agrees(theirs.given);
}

std::string rank_words(int rank, const Record& record) {
  return fmt::format("rank {} calls {}", rank, text_of(record));
}

/// Compares with the peers whose records have come. Returns the MPI's code of the first difference.
int look(Comparison& comparison) {
  const auto find = [](const Peer& peer) { return channel().take_call(peer.mine.mark, peer.mine.number, peer.world); };
  std::string difference;
  const auto compare = [&](const Peer& peer, const check::Record& come) {
    const auto theirs = check::read<Record>(come);
    if (!difference.empty() || fits(peer.mine, theirs)) return;
    difference =
        check::both(comparison.rank, rank_words(comparison.rank, peer.mine), peer.rank, rank_words(peer.rank, theirs));
    difference = fmt::format("collective {} of {} differs between ranks: {}; make the same call on all ranks",
                             peer.mine.number, comparison.comm, difference);
  };
  (void)check::compare_with_come(comparison.peers, find, compare);
  return difference.empty() ? MPI_SUCCESS : code_of(ErrorCode::mismatch, difference);
}

/// The first difference: its communicator, and the MPI's code.
std::pair<MPI_Comm, int> look_at_all() {
  const std::lock_guard lock(open().mutex);
  for (auto one = open().all.begin(); one != open().all.end();) {
    const MPI_Comm handle = one->handle;
    const int code = look(*one);
    const bool is_over = code != MPI_SUCCESS || one->peers.empty();
    one = is_over ? open().all.erase(one) : std::next(one);
    if (code != MPI_SUCCESS) return {handle, code};
  }
  return {MPI_COMM_NULL, MPI_SUCCESS};
}

bool is_open(std::uint64_t number) {
  const std::lock_guard lock(open().mutex);
  return std::any_of(open().all.begin(), open().all.end(),
                     [number](const Comparison& one) { return one.number == number; });
}

}  // namespace

std::uint64_t begin_comparison(MPI_Comm handle, const Watched& comm, std::uint32_t sequence, const std::string& name,
                               const std::string& place, const Description& description) {
  if (comm.size() < 2) return 0;
  Comparison made{0, handle, comm.rank, comm.text(), {}};
  Record record;
  record.mark = comm.mark;
  record.number = sequence;
  record.sender = comm.world[static_cast<std::size_t>(comm.rank)];
  record.root = description.root;
  record.gives = description.given ? 1 : 0;
  record.expects = description.expected ? 1 : 0;
  record.all = description.all;
  put(record.name, name);
  put(record.type, type_name(description.type));
  if (description.op != MPI_OP_NULL) put(record.op, op_name(description.op));
  put(record.place, place);
  for (const int rank : compared_ranks(comm, description)) {
    const int world = comm.world[static_cast<std::size_t>(rank)];
    if (description.given) record.given = description.given(rank);
    if (description.expected) record.expected = description.expected(rank);
    made.peers.push_back({rank, world, record});
    channel().send(record, world);
  }
  const std::lock_guard lock(open().mutex);
  made.number = ++open().count;
  open().all.push_back(std::move(made));
  return open().count;
}

int compare() {
  const auto [handle, code] = look_at_all();
  return raise(handle, code);  // the handler may make calls
}

bool compares() {
  const std::lock_guard lock(open().mutex);
  return !open().all.empty();
}

int finish_comparison(std::uint64_t number) {
  int code = compare();
  while (code == MPI_SUCCESS && is_open(number)) {
    sched_yield();
    code = compare();
  }
  return code;
}

void report_comparisons() {
  const std::lock_guard lock(open().mutex);
  for (const Comparison& one : open().all)
    for (const Peer& peer : one.peers)
      say(
          fmt::format("rank {} of {} has not made its collective {}, which is {} on rank {}; make the "
                      "same calls on all ranks",
                      peer.rank, one.comm, peer.mine.number, text_of(peer.mine), one.rank));
}

}  // namespace tutti::preload
