// SPDX-License-Identifier: BSD-3-Clause
#include "core/process_watch.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <set>

#include "core/kernel_number.hpp"

namespace tutti::detail {
namespace {

/// The start time of a process, in ticks; 0 if it has ended.
std::uint64_t start_time_of(pid_t process) noexcept {
  char path[48];
  (void)std::snprintf(path, sizeof path, "/proc/%d/stat", static_cast<int>(process));
  std::FILE* file = std::fopen(path, "re");
  if (file == nullptr) return 0;
  char text[1024] = {};
  const std::size_t length = std::fread(text, 1, sizeof text - 1, file);
  (void)std::fclose(file);
  // The name of the program, in parentheses, may hold any character.
  const char* after = length == 0 ? nullptr : std::strrchr(text, ')');
  char state = 'X';
  unsigned long long start = 0;
  constexpr const char* format = " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu";
  if (after == nullptr || std::sscanf(after + 1, format, &state, &start) != 2) return 0;  // NOLINT(cert-err34-c)
  return state == 'Z' || state == 'X' ? 0 : start;
}

int open_descriptor(pid_t process) noexcept {
#ifdef SYS_pidfd_open
  return static_cast<int>(syscall(SYS_pidfd_open, process, 0));
#else
  errno = ENOSYS;
  return -1;
#endif
}

struct Watches {
  std::mutex mutex;
  std::map<std::uint64_t, std::weak_ptr<ProcessWatch>> of_number;
  std::set<std::uint64_t> ended;  ///< that were told
};

// Never destroyed, because communicators of static objects may be made at any time.
Watches& watches() {
  static auto* instance = new Watches;
  return *instance;
}

}  // namespace

ProcessIdentity own_identity(std::uint64_t number) {
  static const std::uint64_t machine = kernel_number();
  struct stat space {};
  const bool is_known = ::stat("/proc/self/ns/pid", &space) == 0;
  return {number, machine, is_known ? static_cast<std::uint64_t>(space.st_ino) : 0, getpid()};
}

ProcessWatch::ProcessWatch(pid_t process, Way way) noexcept : process_(process), is_told_(way == Way::told) {
  if (is_told_) return;
  if (way == Way::descriptor) {
    descriptor_ = open_descriptor(process);
    is_gone_ = descriptor_ < 0 && errno == ESRCH;
  }
  if (descriptor_ < 0 && !is_gone_) {
    start_time_ = start_time_of(process);
    is_gone_ = start_time_ == 0;
  }
}

ProcessWatch::~ProcessWatch() {
  if (descriptor_ >= 0) close(descriptor_);
}

std::shared_ptr<const ProcessWatch> ProcessWatch::of(const ProcessIdentity& who, Way way) {
  Watches& all = watches();
  const std::lock_guard lock(all.mutex);
  auto& known = all.of_number[who.number];
  if (auto watch = known.lock()) return watch;
  std::erase_if(all.of_number, [&](const auto& entry) { return entry.first != who.number && entry.second.expired(); });
  auto watch = std::make_shared<ProcessWatch>(who.process, way);
  watch->has_been_told_ = all.ended.contains(who.number);
  all.of_number[who.number] = watch;
  return watch;
}

void ProcessWatch::tell_ended(std::uint64_t number) {
  Watches& all = watches();
  const std::lock_guard lock(all.mutex);
  all.ended.insert(number);
  const auto known = all.of_number.find(number);
  if (known == all.of_number.end()) return;
  if (const auto watch = known->second.lock()) watch->has_been_told_ = true;
}

bool ProcessWatch::has_ended() const noexcept {
  if (is_told_) return has_been_told_.load(std::memory_order_acquire);
  if (is_gone_) return true;
  if (descriptor_ < 0) return start_time_of(process_) != start_time_;
  pollfd end{descriptor_, POLLIN, 0};
  return poll(&end, 1, 0) > 0;
}

}  // namespace tutti::detail
