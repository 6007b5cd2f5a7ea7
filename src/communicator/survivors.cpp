// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/survivors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <numeric>
#include <tutti/error.hpp>
#include <vector>

#include "call/backoff.hpp"
#include "call/progress.hpp"
#include "call/segment.hpp"
#include "communicator/group.hpp"
#include "core/hash.hpp"
#include "core/mpi_call.hpp"

namespace tutti::detail {
namespace {

constexpr int most_ranks = 256;
/// Each attempt ends in success unless one more rank ends meanwhile.
constexpr int most_attempts = 16;

enum class Answer : std::uint32_t { none, yes, no };
enum class Question : std::uint8_t { is_here, sees_all_alive };

/// What a rank answers in one attempt, each word once. It stays when the rank has ended, so that all others read the
/// same.
struct alignas(64) Ballot {
  std::array<std::atomic<Answer>, 2> answers;
};

using Attempt = std::array<Ballot, most_ranks>;

/// The meeting of the survivors.
class Survivors {
 public:
  explicit Survivors(Context& context) : context_(context) {
    // Nobody else knows the mark, so nobody guesses the name.
    const auto key = Hash().add(context.mark).add(context.shrinks++).value();
    name_.text = fmt::format("/tutti-{:016x}{:016x}", context.mark, key);
    std::string problem;
    board_ = shm::Segment::meet(name_.text, most_attempts * sizeof(Attempt), problem);
    if (!board_.valid())
      throw Error(ErrorCode::not_supported,
                  fmt::format("shrink, {}: {}; the ranks need shared memory to agree in", context.describe(), problem));
  }

  /// The ranks that live on, equal on all of them.
  [[nodiscard]] std::vector<int> agree() {
    std::vector<int> all(static_cast<std::size_t>(context_.size));
    std::iota(all.begin(), all.end(), 0);
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
      answer(attempt, Question::is_here, Answer::yes);
      const std::vector<int> here = those_who_say_yes(attempt, Question::is_here, all);
      name_.remove();  // all have mapped it
      const bool alive = std::none_of(here.begin(), here.end(), [&](int r) { return context_.peers.has_ended(r); });
      answer(attempt, Question::sees_all_alive, alive ? Answer::yes : Answer::no);
      if (those_who_say_yes(attempt, Question::sees_all_alive, here).size() == here.size()) return here;
    }
    throw Error(ErrorCode::peer_died,
                fmt::format("shrink, {}: further ranks ended in each of {} attempts; end the program",
                            context_.describe(), most_attempts));
  }

 private:
  [[nodiscard]] std::atomic<Answer>& word(int attempt, Question question, int rank) const {
    auto* attempts = reinterpret_cast<Attempt*>(board_.data());
    return attempts[attempt][static_cast<std::size_t>(rank)].answers[static_cast<std::size_t>(question)];
  }
  void answer(int attempt, Question question, Answer mine) {
    word(attempt, question, context_.rank).store(mine, std::memory_order_release);
  }

  /// Waits until each rank has answered or ended.
  [[nodiscard]] std::vector<int> those_who_say_yes(int attempt, Question question, const std::vector<int>& ranks) {
    std::vector<int> found;
    for (const int rank : ranks)
      if (wait_for(word(attempt, question, rank), rank) == Answer::yes) found.push_back(rank);
    return found;
  }

  [[nodiscard]] Answer wait_for(const std::atomic<Answer>& word, int rank) {
    Backoff backoff(true);
    while (word.load(std::memory_order_acquire) == Answer::none) {
      ProgressEngine::instance().poll();
      if (backoff.pause()) continue;
      // It may have answered just before its end.
      if (context_.peers.has_ended(rank)) return word.load(std::memory_order_acquire);
      check_time(rank);
      Backoff::sleep();
    }
    return word.load(std::memory_order_acquire);
  }

  void check_time(int rank) const {
    const std::chrono::nanoseconds timeout = context_.options.timeout;
    if (timeout.count() == 0 || Peers::Clock::now() - begin_ <= timeout) return;
    throw Error(ErrorCode::timeout,
                fmt::format("shrink, {}: rank {} lives, but has not called shrink() after {} ms", context_.describe(),
                            rank, std::chrono::duration_cast<std::chrono::milliseconds>(timeout).count()));
  }

  Context& context_;
  shm::SegmentName name_{};
  shm::Segment board_{};
  Peers::Clock::time_point begin_ = Peers::Clock::now();
};

void check_supported(const Context& context) {
  if (context.peers.watches_all() && context.size <= most_ranks) return;
  throw Error(
      ErrorCode::not_supported,
      fmt::format("shrink, {}: the ranks must be at most {} on one node and in one PID namespace, where each sees "
                  "the end of the others; end the program and start it anew",
                  context.describe(), most_ranks));
}

}  // namespace

MPI_Comm make_of_survivors(Context& context) {
  check_supported(context);
  const std::vector<int> ranks = Survivors(context).agree();
  (void)context.peers.look();
  const Group all(context.point_to_point);
  MPI_Group some = MPI_GROUP_NULL;
  check_mpi(MPI_Group_incl(all.get(), static_cast<int>(ranks.size()), ranks.data(), &some), "MPI_Group_incl");
  MPI_Comm made = MPI_COMM_NULL;
  const int code = MPI_Comm_create_group(context.point_to_point, some, 0, &made);
  MPI_Group_free(&some);
  check_mpi(code, "MPI_Comm_create_group");
  check_mpi(MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  return made;
}

}  // namespace tutti::detail
