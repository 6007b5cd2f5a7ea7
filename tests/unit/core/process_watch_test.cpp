// SPDX-License-Identifier: BSD-3-Clause
#include "core/process_watch.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <optional>
#include <thread>
#include <utility>

#include "support/no_descriptors.hpp"

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

class Watch : public ::testing::TestWithParam<ProcessWatch::Method> {};

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

TEST_P(Watch, WithoutDescriptorsNobodyHasEnded) {
  const Sleeper child;
  const ProcessWatch before(child.process(), GetParam());
  std::optional<test::NoDescriptors> none(std::in_place);
  const ProcessWatch meanwhile(child.process(), GetParam());
  for (const ProcessWatch* watch : {&before, &meanwhile}) EXPECT_FALSE(watch->has_ended());
  none.reset();
  for (const ProcessWatch* watch : {&before, &meanwhile}) EXPECT_FALSE(watch->has_ended());
  child.end();
  for (const ProcessWatch* watch : {&before, &meanwhile}) EXPECT_TRUE(watch->has_ended());
}

TEST_P(Watch, WithoutDescriptorsOneThatIsGoneHasEnded) {
  std::optional<Sleeper> child(std::in_place);
  const pid_t process = child->process();
  const ProcessWatch before(process, GetParam());
  const test::NoDescriptors none;
  child.reset();
  EXPECT_TRUE(before.has_ended());
  EXPECT_TRUE(ProcessWatch(process, GetParam()).has_ended());
}

TEST_P(Watch, AProcessGoesOnWithoutItsFirstThread) {
  const pid_t process = fork();
  if (process == 0) {
    std::thread([] {
      while (true) pause();
    }).detach();
    syscall(SYS_exit, 0);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const ProcessWatch watch(process, GetParam());
  EXPECT_FALSE(watch.has_ended());
  kill(process, SIGKILL);
  siginfo_t ended{};
  waitid(P_PID, static_cast<id_t>(process), &ended, WEXITED | WNOWAIT);
  EXPECT_TRUE(watch.has_ended());
  waitpid(process, nullptr, 0);
}

/// In a PID namespace whose /proc is another one's.
[[noreturn]] void watch_behind_foreign_proc(ProcessWatch::Method method) {
  pid_t process = 0;
  bool is_right = false;
  {
    const Sleeper child;
    process = child.process();
    const ProcessWatch watch(process, method);
    is_right = !watch.has_ended();
  }
  _exit(is_right && ProcessWatch(process, method).has_ended() ? 0 : 1);
}

TEST_P(Watch, WithTheProcOfAnotherNamespace) {
  const pid_t outer = fork();
  if (outer == 0) {
    if (unshare(CLONE_NEWPID) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0) _exit(77);
    const pid_t inner = fork();
    if (inner == 0) watch_behind_foreign_proc(GetParam());
    int status = 0;
    waitpid(inner, &status, 0);
    _exit(WEXITSTATUS(status));
  }
  int status = 0;
  waitpid(outer, &status, 0);
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "no PID namespaces without privileges";
  EXPECT_EQ(status, 0);
}

INSTANTIATE_TEST_SUITE_P(Methods, Watch,
                         ::testing::Values(ProcessWatch::Method::descriptor, ProcessWatch::Method::start_time));

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
