// SPDX-License-Identifier: BSD-3-Clause
#include "core/process_watch.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace tutti::detail {
namespace {

/// A process that waits to be killed.
class Sleeper {
 public:
  Sleeper() : process_(fork()) {
    if (process_ != 0) return;
    while (true) pause();
  }
  ~Sleeper() {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  /// It remains a zombie.
  void end() const {
    kill(process_, SIGKILL);
    siginfo_t ended{};
    waitid(P_PID, static_cast<id_t>(process_), &ended, WEXITED | WNOWAIT);
  }
  [[nodiscard]] pid_t process() const { return process_; }

 private:
  pid_t process_;
};

class Watch : public ::testing::TestWithParam<ProcessWatch::Way> {};

TEST_P(Watch, SeesAnEndBeforeTheParentHasWaited) {
  const Sleeper child;
  const ProcessWatch watch(child.process(), GetParam());
  EXPECT_FALSE(watch.has_ended());
  child.end();
  EXPECT_TRUE(watch.has_ended());
}

TEST_P(Watch, OfAProcessThatIsGone) {
  pid_t process = 0;
  {
    const Sleeper child;
    process = child.process();
  }
  EXPECT_TRUE(ProcessWatch(process, GetParam()).has_ended());
}

TEST_P(Watch, OfThisProcess) { EXPECT_FALSE(ProcessWatch(getpid(), GetParam()).has_ended()); }

INSTANTIATE_TEST_SUITE_P(Ways, Watch, ::testing::Values(ProcessWatch::Way::descriptor, ProcessWatch::Way::start_time));

TEST(SharedWatch, IsOneForEachProcess) {
  ProcessIdentity who = own_identity(7);
  const auto watch = ProcessWatch::of(who);
  EXPECT_EQ(ProcessWatch::of(who), watch);
  who.number = 8;
  EXPECT_NE(ProcessWatch::of(who), watch);
}

TEST(Identity, IsSeenInOneNamespaceOfOneMachine) {
  const ProcessIdentity own = own_identity(1);
  ASSERT_NE(own.machine, 0U);
  EXPECT_EQ(own.process, getpid());
  EXPECT_TRUE(own.sees(own_identity(2)));
  ProcessIdentity other = own;
  other.space += 1;
  EXPECT_FALSE(own.sees(other));
  other = own;
  other.machine += 2;
  EXPECT_FALSE(own.sees(other));
  other.machine = 0;
  EXPECT_FALSE(other.sees(other));
}

}  // namespace
}  // namespace tutti::detail
