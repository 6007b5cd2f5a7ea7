// SPDX-License-Identifier: BSD-3-Clause
#include "support/instructions.hpp"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <new>

extern "C" const char __executable_start;  // NOLINT(bugprone-reserved-identifier): the linker's names
extern "C" const char etext;

namespace tutti::test {
namespace {

#if defined(__x86_64__)

/// named: the parent has let the child trace it.
enum class State : int { begun, named, refused, stepping };

/// What the two processes share.
struct Shared {
  std::atomic<State> state{State::begun};
  std::atomic<bool> counts{false};
  std::atomic<bool> stop{false};
  std::atomic<long> count{0};
};

bool is_own(std::uint64_t address) {
  const auto begin = reinterpret_cast<std::uint64_t>(&__executable_start);
  const auto end = reinterpret_cast<std::uint64_t>(&etext);
  return address >= begin && address < end;
}

/// The child: only calls of the system, because other threads of the parent may have held locks.
void step_through(pid_t process, Shared& shared) {
  int status = 0;
  if (ptrace(PTRACE_SEIZE, process, nullptr, nullptr) != 0 ||
      ptrace(PTRACE_INTERRUPT, process, nullptr, nullptr) != 0 || waitpid(process, &status, __WALL) != process) {
    shared.state.store(State::refused);
    return;
  }
  shared.state.store(State::stepping);
  while (!shared.stop.load()) {
    const bool is_signal = WIFSTOPPED(status) && WSTOPSIG(status) != SIGTRAP && status >> 16 == 0;
    const long signal = is_signal ? WSTOPSIG(status) : 0;
    if (ptrace(PTRACE_SINGLESTEP, process, nullptr, signal) != 0 || waitpid(process, &status, __WALL) != process) break;
    const auto at = ptrace(PTRACE_PEEKUSER, process, offsetof(user_regs_struct, rip), nullptr);
    if (shared.counts.load() && is_own(static_cast<std::uint64_t>(at))) shared.count.fetch_add(1);
  }
  ptrace(PTRACE_DETACH, process, nullptr, nullptr);
}

#endif

}  // namespace

std::optional<long> own_instructions_of(const std::function<void()>& action) {
#if defined(__x86_64__)
  void* page = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return std::nullopt;
  auto& shared = *::new (page) Shared;
  const pid_t process = getpid();
  const pid_t child = fork();
  if (child == 0) {
    while (shared.state.load() == State::begun) usleep(100);
    step_through(process, shared);
    _exit(0);
  }
  // Only a process that its victim has named may trace it, on systems that restrict tracing.
  prctl(PR_SET_PTRACER, child, 0, 0, 0);
  shared.state.store(State::named);
  while (shared.state.load() == State::named) usleep(100);
  const bool is_traced = shared.state.load() != State::refused;
  shared.counts.store(true);
  action();
  shared.counts.store(false);
  shared.stop.store(true);
  waitpid(child, nullptr, 0);
  const long count = shared.count.load();
  munmap(page, sizeof(Shared));
  return is_traced ? std::optional(count) : std::nullopt;
#else
  action();
  return std::nullopt;
#endif
}

}  // namespace tutti::test
