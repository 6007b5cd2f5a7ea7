// SPDX-License-Identifier: BSD-3-Clause
#include "core/process_watch.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <string_view>

#include "core/hash.hpp"

namespace tutti::detail {
namespace {

/// What can be seen of a process. That it cannot be seen, for want of a descriptor say, does not mean that it has
/// ended.
struct Sight {
  bool has_ended = false;
  std::uint64_t start = 0;  ///< in ticks; 0: unknown
};

/// /proc may be that of another PID namespace, where the numbers are others.
bool shows_own_numbers() noexcept {
  char target[24] = {};
  char own[24];
  (void)std::snprintf(own, sizeof own, "%d", static_cast<int>(getpid()));
  return readlink("/proc/self", target, sizeof target - 1) > 0 && std::strcmp(target, own) == 0;
}

bool read_status(pid_t process, std::span<char> text) noexcept {
  char path[48];
  (void)std::snprintf(path, sizeof path, "/proc/%d/stat", static_cast<int>(process));
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const ssize_t length = read(file, text.data(), text.size() - 1);
  close(file);
  if (length > 0) text[static_cast<std::size_t>(length)] = '\0';
  return length > 0;
}

Sight parse(const char* text) noexcept {
  // The name of the program, in parentheses, may hold any character.
  const char* after = std::strrchr(text, ')');
  char state = '?';
  long threads = 0;
  unsigned long long start = 0;
  constexpr const char* format = " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %ld %*s %llu";
  if (after == nullptr || std::sscanf(after + 1, format, &state, &threads, &start) != 3)
    return {};  // NOLINT(cert-err34-c)
  // A process whose first thread has ended before the others goes on.
  return {(state == 'Z' || state == 'X') && threads <= 1, start};
}

Sight look_at(pid_t process) noexcept {
  if (kill(process, 0) != 0 && errno == ESRCH) return {.has_ended = true};
  std::array<char, 1024> text;
  return shows_own_numbers() && read_status(process, text) ? parse(text.data()) : Sight{};
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
  static std::atomic<std::uint64_t> machine{0};
  if (machine == 0) machine = kernel_number();  // which may have been unknown for want of a descriptor
  struct stat space {};
  const bool is_known = ::stat("/proc/self/ns/pid", &space) == 0;
  return {number, machine, is_known ? static_cast<std::uint64_t>(space.st_ino) : 0, getpid()};
}

ProcessWatch::ProcessWatch(pid_t process, Method method) noexcept
    : process_(process), is_told_(method == Method::told) {
  if (is_told_) return;
  if (method == Method::descriptor) {
    descriptor_ = open_descriptor(process);
    is_gone_ = descriptor_ < 0 && errno == ESRCH;
  }
  if (descriptor_ < 0 && !is_gone_) is_gone_ = looks_ended();
}

ProcessWatch::~ProcessWatch() {
  if (descriptor_ >= 0) close(descriptor_);
}

std::shared_ptr<const ProcessWatch> ProcessWatch::of(const ProcessIdentity& who, Method method) {
  Watches& all = watches();
  const std::lock_guard lock(all.mutex);
  auto& known = all.of_number[who.number];
  if (auto watch = known.lock()) return watch;
  std::erase_if(all.of_number, [&](const auto& entry) { return entry.first != who.number && entry.second.expired(); });
  auto watch = std::make_shared<ProcessWatch>(who.process, method);
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
  if (descriptor_ < 0) return looks_ended();
  pollfd end{descriptor_, POLLIN, 0};
  return poll(&end, 1, 0) > 0 && (end.revents & POLLIN) != 0;
}

bool ProcessWatch::looks_ended() const noexcept {
  const Sight now = look_at(process_);
  std::uint64_t known = 0;
  if (now.start != 0) start_time_.compare_exchange_strong(known, now.start);
  return now.has_ended || (known != 0 && known != now.start);
}

std::uint64_t kernel_number() {
  char id[64] = {};
  std::FILE* file = std::fopen("/proc/sys/kernel/random/boot_id", "re");
  if (file == nullptr) return 0;
  const std::size_t length = std::fread(id, 1, sizeof id, file);
  (void)std::fclose(file);
  return length == 0 ? 0 : Hash().add(std::string_view(id, length)).value() | 1U;
}

}  // namespace tutti::detail
