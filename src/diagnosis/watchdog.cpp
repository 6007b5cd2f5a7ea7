// SPDX-License-Identifier: BSD-3-Clause
#include "diagnosis/watchdog.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <mutex>
#include <string>
#include <thread>

#include "diagnosis/findings.hpp"
#include "diagnosis/hosts.hpp"
#include "diagnosis/recorder.hpp"
#include "diagnosis/site_text.hpp"
#include "diagnosis/snapshot.hpp"

namespace tutti::detail::flight {
namespace {

double waited(const Snapshot& snapshot) {
  const SeenCall* call = snapshot.current();
  return call == nullptr || !snapshot.is_alive ? 0 : snapshot.seconds(*call);
}

/// This process's recorder by its own descriptor, without a look at other processes.
double own_wait() {
  std::string problem;
  const auto snapshot = read_snapshot(fmt::format("/proc/self/fd/{}", Recorder::instance()->descriptor()), problem);
  return snapshot ? waited(*snapshot) : 0;
}

/// The lowest rank that waits so long, or null.
const Snapshot* first_that_waits(const Job& job, double limit) {
  const auto first =
      std::find_if(job.begin(), job.end(), [limit](const Snapshot& one) { return waited(one) >= limit; });
  return first != job.end() ? &*first : nullptr;
}

/// Adds the recorders of the other hosts. Returns false once one of them has a lower rank that waits so long, which
/// speaks instead. The lowest ranks are asked first, so that most processes ask once.
bool add_other_hosts(Job& job, int rank, double limit, std::string& problems, const std::atomic<bool>& is_over) {
  for (const Host& host : other_hosts()) {
    std::string problem;
    auto found = job_on(host, problem, is_over);
    if (is_over) return false;
    if (!found) {
      problems += fmt::format("tutti: the ranks of another host are unknown: {}\n", problem);
      continue;
    }
    const Snapshot* first = first_that_waits(*found, limit);
    if (first != nullptr && first->world_rank < rank) return false;
    std::move(found->begin(), found->end(), std::back_inserter(job));
  }
  std::sort(job.begin(), job.end(), [](const Snapshot& a, const Snapshot& b) { return a.world_rank < b.world_rank; });
  return true;
}

/// The lowest rank of its host that waits so long says who waits for whom, unless one of another host does. Returns
/// whether this process has spoken.
bool look(double limit, const std::atomic<bool>& is_over) {
  Job job = own_job();
  const Snapshot* first = first_that_waits(job, limit);
  if (first == nullptr || first->process != getpid()) return false;
  find_places(job);
  std::string text;
  if (!add_other_hosts(job, first->world_rank, limit, text, is_over)) return false;
  for (const Finding& finding : find_all(job, limit / 2)) text += fmt::format("tutti: {}\n", finding.text);
  std::fputs(text.c_str(), stderr);
  return true;
}

class Watchdog {
 public:
  void start(std::chrono::nanoseconds limit, bool aborts) {
    const std::lock_guard lock(mutex_);
    if (thread_.joinable() || Recorder::instance() == nullptr) return;
    stops_ = false;
    thread_ = std::thread([this, limit, aborts] { watch(std::chrono::duration<double>(limit).count(), aborts); });
  }
  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stops_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

 private:
  void watch(double limit, bool aborts) {
    const std::chrono::duration<double> interval{std::clamp(limit / 4, 0.01, 1.0)};
    double next = limit;
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, interval, [this] { return stops_.load(); })) {
      const double own = own_wait();
      if (own < limit) next = limit;
      if (own < next) continue;
      next = 2 * own;
      // The others' recorders are a moment older or younger, so that a rank that waits as long may seem not to.
      lock.unlock();  // factories and MPI_Finalize need not wait for other hosts
      if (look(0.9 * limit, stops_) && aborts) std::_Exit(EXIT_FAILURE);
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::thread thread_;
  std::atomic<bool> stops_{false};
};

// Never destroyed, because MPI may be finalized after the statics of this file.
Watchdog& watchdog() {
  static auto* made = new Watchdog;
  return *made;
}

}  // namespace

void start_watchdog(std::chrono::nanoseconds limit, bool aborts) { watchdog().start(limit, aborts); }
void stop_watchdog() noexcept { watchdog().stop(); }

}  // namespace tutti::detail::flight
