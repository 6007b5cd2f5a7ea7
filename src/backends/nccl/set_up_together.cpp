// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/set_up.hpp"

#include <fmt/format.h>
#include <sched.h>

#include "call/backoff.hpp"
#include "call/context.hpp"
#include "call/progress.hpp"

namespace tutti::detail::nccl {
namespace {

using Clock = std::chrono::steady_clock;
using Duration = std::chrono::nanoseconds;

/// This rank's part: casts its vote once its set-up has succeeded, failed or timed out.
class Initialisation {
 public:
  Initialisation(const CommBody& body, SetUp& set_up, Vote& vote, Duration timeout)
      : body_(body), set_up_(set_up), vote_(vote), timeout_(timeout), begin_(Clock::now()) {}

  void advance() {
    if (vote_.has_cast()) return;
    try {
      step();
    } catch (const Error& error) {
      vote_.cast(false, error.what());
    }
  }

 private:
  void step() {
    const Result result = set_up_.advance();
    if (result == Result::success) return vote_.cast(true, {});
    if (result != Result::in_progress) return vote_.cast(false, body_.text(set_up_.call(), result));
    if (timeout_.count() == 0 || Clock::now() - begin_ < timeout_) return;
    vote_.cast(false, fmt::format("{} was not complete after {:.3g} s", set_up_.call(),
                                  std::chrono::duration<double>(timeout_).count()));
  }

  const CommBody& body_;
  SetUp& set_up_;
  Vote& vote_;
  Duration timeout_;
  Clock::time_point begin_;
};

void give_way() {
  ProgressEngine::instance().poll();
  sched_yield();
}

}  // namespace

Vote::Decision set_up_together(const Context& comm, const CommBody& body, SetUp& set_up, Duration timeout) {
  Vote vote(comm, 2 * timeout);
  Initialisation mine(body, set_up, vote, timeout);
  constexpr int yields = 200;
  auto decision = vote.poll();
  for (int polls = 0; !decision; ++polls) {
    mine.advance();
    give_way();
    if (polls > yields) Backoff::sleep();  // NCCL's threads need a core
    decision = vote.poll();
  }
  if (!vote.has_cast()) vote.cast(false, "another rank failed");
  while (!vote.is_settled()) give_way();
  return *decision;
}

}  // namespace tutti::detail::nccl
