// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "call/progress.hpp"
#include "simulation/fiber.hpp"
#include "simulation/machine.hpp"

namespace tutti::simulation {

/// A word in shared memory, which each rank has at another address.
struct Word {
  int segment = -1;
  std::size_t offset = 0;
  friend bool operator==(const Word&, const Word&) = default;
};

/// What the scheduler decides about beside the ranks: messages under way, and planted faults.
class Environment {
 public:
  Environment() = default;
  virtual ~Environment() = default;
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  /// Lets one message arrive. Returns false if none is under way.
  virtual bool deliver(Random& random) = 0;
  /// Called at each decision.
  virtual void disturb(Random& random) = 0;
  /// The rank that goes on, of those that can; -1: the seed chooses.
  virtual int choose(const std::vector<int>& /*ready*/) { return -1; }
  /// Returns true if a wake-up is to be lost.
  virtual bool loses_wake() = 0;
};

/// Ranks as fibers of one thread, of which a seed chooses at each stop the one that goes on. Time is that of the
/// simulation: it passes with decisions, and leaps if all ranks sleep.
class Scheduler {
 public:
  using Time = std::chrono::nanoseconds;

  Scheduler(std::uint64_t seed, int ranks, const Manner& manner);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  void set_environment(Environment& environment) { environment_ = &environment; }
  void start(int rank, std::function<void()> body);
  /// Runs all ranks to their end. Returns the reason why they did not come there, or "".
  [[nodiscard]] std::string run();

  /// The scheduler of the rank that calls; null outside of ranks.
  [[nodiscard]] static Scheduler* here();

  // For the rank that runs
  [[nodiscard]] int rank() const { return running_; }
  [[nodiscard]] Time now() const { return now_; }
  /// Other ranks may go on at one in `turns` calls.
  void stop(int turns = 1);
  /// The same, because the rank waits for another one.
  void wait();
  void nap(Time length);
  /// Sleeps until another rank wakes it. Returns false if `longest` passed before.
  bool sleep(const Word& word, Time longest);
  /// Wakes the rank that sleeps at a word.
  void wake(const Word& word);
  /// Waits until all ranks are here.
  void meet();
  /// Something happened that another rank can wait for.
  void tell() { last_event_ = decisions_; }
  /// From now on wake-ups may come from where nobody gives them, so that a sleep may take its whole time.
  void let_sleeps_end() { sleeps_end_ = true; }
  /// The rank has come so far that it may die.
  void may_die() { may_die_ = true; }
  void fail(const std::string& reason);
  [[nodiscard]] Random& random() { return random_; }
  [[nodiscard]] const Manner& manner() const { return manner_; }
  [[nodiscard]] bool has_death() const { return manner_.dies; }

  [[nodiscard]] std::uint64_t decisions() const { return decisions_; }
  /// A digest of all decisions.
  [[nodiscard]] std::uint64_t digest() const { return digest_; }
  /// The last step that a rank noted.
  void note(std::string step);
  void set_printing(bool prints) { prints_ = prints; }

 private:
  enum class Rest : std::uint8_t { none, nap, sleep, met };
  struct Rank {
    std::unique_ptr<Fiber> fiber{};
    detail::ProgressEngine engine{};
    Rest rest = Rest::none;
    Time until{};
    bool timed_out = false;
    Word word{};
    std::uint64_t paused_until = 0;
    int priority = 0;
    std::string step{};
  };

  void decide();
  void collect_ready();
  void end_naps();
  [[nodiscard]] bool can_end(const Rank& rank) const;
  /// No rank can go on: finds a reason for one to do so. Returns false if there is none.
  bool unblock();
  bool leap();
  bool release_met();
  bool revive();
  void check_events();
  [[nodiscard]] int pick();
  void resume(int rank);
  void die_or_pause();
  [[nodiscard]] bool all_ended() const;
  [[nodiscard]] std::string where() const;

  const Manner manner_;
  Random random_;
  Environment* environment_ = nullptr;
  std::vector<std::unique_ptr<Rank>> ranks_;
  std::vector<int> ready_;
  int running_ = -1;
  int last_ = -1;
  bool waited_ = false;  ///< the rank that ran last waits for another one
  int dead_ = -1;
  int lowest_ = 0;
  bool may_die_ = false;
  bool has_died_ = false;
  bool sleeps_end_ = false;
  bool prints_ = false;
  Time now_{};
  std::uint64_t decisions_ = 0;
  std::uint64_t last_event_ = 0;
  std::uint64_t dies_at_ = 0;
  std::uint64_t digest_ = 0;
  std::string failure_{};
};

}  // namespace tutti::simulation
