// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/factory.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <numeric>
#include <tutti/error.hpp>
#include <vector>

#include "call/backoff.hpp"
#include "call/progress.hpp"
#include "communicator/ballots.hpp"
#include "communicator/group.hpp"
#include "core/hash.hpp"
#include "core/host_mpi.hpp"
#include "core/mpi_call.hpp"

namespace tutti::detail {
namespace {

/// Each attempt ends in success unless one more rank ends meanwhile. It has two questions.
constexpr int most_attempts = Ballots::most_questions / 2;

/// Answers: a rank is here; it has seen a death since. Any other is the set of ranks that it has found here.
constexpr std::uint64_t is_here = 1;
constexpr std::uint64_t saw_a_death = 2;

std::uint64_t word_for(const std::vector<int>& ranks) {
  Hash hash;
  for (const int rank : ranks) hash.add(rank);
  return hash.value() | 4U;
}

/// The meeting of the survivors.
class Survivors {
 public:
  explicit Survivors(Context& context) : context_(context), ballots_(Ballots::make(context)) {}

  /// The ranks that live on, equal on all of them.
  [[nodiscard]] std::vector<int> agree() {
    std::vector<int> all(static_cast<std::size_t>(context_.size));
    std::iota(all.begin(), all.end(), 0);
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
      ballots_->write(2 * attempt, is_here);
      const std::vector<int> here = those_who_say(2 * attempt, is_here, all);
      ballots_->close();
      const bool alive = std::none_of(here.begin(), here.end(), [&](int r) { return context_.peers.has_ended(r); });
      ballots_->write(2 * attempt + 1, alive ? word_for(here) : saw_a_death);
      if (those_who_say(2 * attempt + 1, word_for(here), here).size() == here.size()) return here;
    }
    throw Error(ErrorCode::peer_died,
                fmt::format("shrink, {}: further ranks ended in each of {} attempts; end the program",
                            context_.describe(), most_attempts));
  }

 private:
  /// Waits until each rank has answered or ended.
  [[nodiscard]] std::vector<int> those_who_say(int question, std::uint64_t word, const std::vector<int>& ranks) {
    std::vector<int> found;
    for (const int rank : ranks)
      if (wait_for(question, rank) == word) found.push_back(rank);
    return found;
  }

  [[nodiscard]] std::uint64_t wait_for(int question, int rank) {
    // No yields first: where other programs want the cores, each of them lasts as long as these like.
    while (ballots_->read(question, rank) == 0) {
      ProgressEngine::instance().poll();
      // It may have answered just before its end.
      if (context_.peers.has_ended(rank)) return ballots_->read(question, rank);
      check_time(rank);
      Backoff::sleep();
    }
    return ballots_->read(question, rank);
  }

  void check_time(int rank) const {
    const std::chrono::nanoseconds timeout = context_.options.timeout;
    if (timeout.count() == 0 || Peers::Clock::now() - begin_ <= timeout) return;
    throw Error(ErrorCode::timeout,
                fmt::format("shrink, {}: rank {} lives, but has not called shrink() after {} ms", context_.describe(),
                            rank, std::chrono::duration_cast<std::chrono::milliseconds>(timeout).count()));
  }

  Context& context_;
  std::unique_ptr<Ballots> ballots_;
  Peers::Clock::time_point begin_ = Peers::Clock::now();
};

/// Open MPI refuses to make a communicator of a group while it tells its processes of a death, but has a function of
/// its own (User Level Failure Mitigation). Returns MPI_COMM_NULL if it does not serve.
MPI_Comm shrunk_by_host(const Context& context, std::size_t survivors) {
  using Shrink = int (*)(MPI_Comm, MPI_Comm*);
  if (!host_is_open_mpi()) return MPI_COMM_NULL;
  const auto shrink = reinterpret_cast<Shrink>(dlsym(RTLD_DEFAULT, "PMPIX_Comm_shrink"));
  MPI_Comm made = MPI_COMM_NULL;
  if (shrink == nullptr || shrink(context.point_to_point, &made) != MPI_SUCCESS) return MPI_COMM_NULL;
  int size = 0;
  check_mpi(MPI_Comm_size(made, &size), "MPI_Comm_size");
  if (static_cast<std::size_t>(size) == survivors) return made;
  MPI_Comm_free(&made);
  throw Error(ErrorCode::peer_died,
              fmt::format("shrink, {}: {} ranks live, but the host MPI found {}; call shrink() again",
                          context.describe(), survivors, size));
}

MPI_Comm made_of(const Context& context, const std::vector<int>& ranks) {
  if (const MPI_Comm made = shrunk_by_host(context, ranks.size()); made != MPI_COMM_NULL) return made;
  const Group all(context.point_to_point);
  MPI_Group some = MPI_GROUP_NULL;
  check_mpi(MPI_Group_incl(all.get(), static_cast<int>(ranks.size()), ranks.data(), &some), "MPI_Group_incl");
  MPI_Comm made = MPI_COMM_NULL;
  const int code = MPI_Comm_create_group(context.point_to_point, some, 0, &made);
  MPI_Group_free(&some);
  check_mpi(code, "MPI_Comm_create_group");
  return made;
}

}  // namespace

MPI_Comm make_of_survivors(Context& context) {
  const std::vector<int> ranks = Survivors(context).agree();
  (void)context.peers.look();
  const MPI_Comm made = made_of(context, ranks);
  check_mpi(MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  return made;
}

}  // namespace tutti::detail
