// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/factory.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <tutti/error.hpp>
#include <vector>

#include "call/backoff.hpp"
#include "call/context.hpp"
#include "call/progress.hpp"
#include "call/segment.hpp"
#include "communicator/group.hpp"
#include "core/hash.hpp"
#include "core/host_mpi.hpp"
#include "core/mpi_call.hpp"
#include "outofband/endpoint.hpp"

namespace tutti::detail {
namespace {

/// Where ranks that meet after a death write their answers, each once. A word stays when its rank has ended.
class Ballots {
 public:
  Ballots() = default;
  virtual ~Ballots() = default;
  Ballots(const Ballots&) = delete;
  Ballots& operator=(const Ballots&) = delete;

  static constexpr int most_questions = 32;

  /// word: not 0.
  virtual void write(int question, std::uint64_t word) = 0;
  /// 0: the rank has not answered.
  [[nodiscard]] virtual std::uint64_t read(int question, int rank) = 0;
  /// All ranks that live on have them.
  virtual void close() noexcept {}

  /// In shared memory, if each rank sees the end of all others by itself; otherwise out of band. Equal on all ranks.
  /// Throws Error(not_supported) if there is neither.
  [[nodiscard]] static std::unique_ptr<Ballots> make(Context& context);
};

constexpr int most_ranks_of_a_page = 256;

/// Ranks of one node.
class SharedBallots final : public Ballots {
 public:
  explicit SharedBallots(const Context& context, std::uint64_t key) : rank_(context.rank) {
    // Nobody else knows the mark, so nobody guesses the name.
    name_.text = shm::SegmentName::of(context.mark, key);
    std::string problem;
    page_ = shm::Segment::meet(name_, sizeof(Page), problem);
    if (!page_.valid())
      throw Error(ErrorCode::not_supported,
                  fmt::format("shrink, {}: {}; the ranks need shared memory to agree in", context.describe(), problem));
  }
  void write(int question, std::uint64_t word) override { at(question, rank_).store(word, std::memory_order_release); }
  std::uint64_t read(int question, int rank) override { return at(question, rank).load(std::memory_order_acquire); }
  void close() noexcept override { name_.remove(); }

 private:
  struct alignas(64) Ballot {
    std::array<std::atomic<std::uint64_t>, most_questions> words;
  };
  using Page = std::array<Ballot, most_ranks_of_a_page>;

  [[nodiscard]] std::atomic<std::uint64_t>& at(int question, int rank) const {
    auto& ballots = *reinterpret_cast<Page*>(page_.data());
    return ballots[static_cast<std::size_t>(rank)].words[static_cast<std::size_t>(question)];
  }

  int rank_;
  shm::SegmentName name_{};
  shm::Segment page_{};
};

/// Ranks of several nodes, each of which is told of the end of any other.
class ToldBallots final : public Ballots {
 public:
  ToldBallots(const Context& context, std::uint64_t key) : rank_(context.rank), key_(key) {}
  void write(int question, std::uint64_t word) override {
    outofband::Endpoint::instance().say({key_of(question), static_cast<std::uint64_t>(rank_), word});
  }
  std::uint64_t read(int question, int rank) override {
    return outofband::Endpoint::instance().heard(key_of(question), static_cast<std::uint64_t>(rank));
  }

 private:
  [[nodiscard]] std::uint64_t key_of(int question) const { return Hash().add(key_).add(question).value(); }
  int rank_;
  std::uint64_t key_;
};

std::unique_ptr<Ballots> Ballots::make(Context& context) {
  const auto key = Hash().add(context.mark).add(context.shrinks++).value();
  if (context.peers.sees_all() && context.size <= most_ranks_of_a_page)
    return std::make_unique<SharedBallots>(context, key);
  if (context.peers.watches_all() && !context.peers.sees_all()) return std::make_unique<ToldBallots>(context, key);
  throw Error(ErrorCode::not_supported,
              fmt::format("shrink, {}: the ranks must be at most {} on one node and in one PID namespace, where each "
                          "sees the end of the others, or be told of it (TUTTI_HEARTBEAT); end the program and start "
                          "it anew",
                          context.describe(), most_ranks_of_a_page));
}

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
