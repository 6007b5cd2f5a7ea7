// SPDX-License-Identifier: BSD-3-Clause
// How the queues go on.
#include "support/standin/state.hpp"

#include <cstdlib>
#include <cstring>

namespace tutti::standin {

void Runtime::State::begin(Stream& stream) {
  const std::lock_guard lock(mutex);
  stream.queue = streams.size() % queues.size();
  streams.insert(&stream);
  if (is_threaded) stream.thread = std::thread([this, &stream] { serve(stream); });
}

void Runtime::State::serve(Stream& stream) {
  using std::chrono::microseconds;
  constexpr std::uint64_t longest_delay = 150;
  constexpr microseconds between_tries{50};
  std::unique_lock lock(mutex);
  while (!is_over) {
    if (stream.jobs.empty()) {
      stream.has_work.wait(lock);
      continue;
    }
    lock.unlock();
    std::this_thread::sleep_for(microseconds(Chance::instance().below(longest_delay)));
    if (!step(stream)) std::this_thread::sleep_for(between_tries);
    lock.lock();
  }
}

void Runtime::State::join_threads() {
  {
    const std::lock_guard lock(mutex);
    is_over = true;
  }
  const auto join = [](Stream& stream) {
    stream.has_work.notify_one();
    if (stream.thread.joinable()) stream.thread.join();
  };
  for (Stream& stream : devices) join(stream);
  for (const auto& stream : made) join(*stream);
}

bool Runtime::State::leaves_queue(Stream& stream, const Job& job) {
  auto& queue = queues[stream.queue];
  // Work of other streams begins, which does not mean that any of it is done.
  while (!job.has_left_queue && queue.begin()->first != job.number) {
    Stream& first = *queue.begin()->second;
    Job& next = first.jobs.front();
    if (next.number != queue.begin()->first || next.holds_queue) {
      stream.waits_for = &first;
      return false;
    }
    next.has_left_queue = true;
    queue.erase(queue.begin());
  }
  return true;
}

bool Runtime::State::step(Stream& stream) {
  std::unique_lock lock(mutex);
  if (stream.jobs.empty() || stream.is_running) return false;
  Job& job = stream.jobs.front();
  if (!leaves_queue(stream, job)) return false;
  if (!job.has_left_queue && !job.holds_queue) {
    queues[stream.queue].erase(job.number);
    job.has_left_queue = true;
  }
  stream.is_running = true;
  lock.unlock();
  bool done = true;
  std::exception_ptr failure;
  try {
    const DeviceArena::Work work;
    if (auto* const arrive = arrivals.load()) arrive();
    done = job.work();
  } catch (...) {
    failure = std::current_exception();
  }
  lock.lock();
  stream.is_running = false;
  if (!done && !stream.drops_first) return false;
  stream.waits_for = nullptr;
  stream.drops_first = false;
  if (!job.has_left_queue) queues[stream.queue].erase(job.number);
  const Job finished = std::move(stream.jobs.front());
  stream.jobs.pop_front();
  lock.unlock();
  if (failure) std::rethrow_exception(failure);
  return true;
}

void Runtime::State::drive(Stream& stream, std::size_t most_jobs, int depth) {
  constexpr int deepest = 16;
  if (is_threaded) return;
  const DeviceArena::Work work;  // of all: what one job has opened stays open for the next
  for (std::size_t i = 0; i < most_jobs; ++i) {
    if (step(stream)) continue;
    Stream* before = stream.waits_for.load();
    if (before == nullptr || before == &stream || depth > deepest) return;
    drive(*before, most_jobs, depth + 1);
    if (!step(stream)) return;
  }
}

bool Runtime::State::ask(Stream& stream, const std::function<bool()>& done) {
  constexpr std::size_t all = ~std::size_t{0};
  if (done()) return true;
  go_on_by_chance();
  drive(stream, all);
  if (done()) return true;
  std::vector<Stream*> others;
  {
    const std::lock_guard lock(mutex);
    others = alive();
  }
  for (Stream* other : others)
    if (other != &stream) drive(*other, 1);
  return done();
}

void Runtime::State::go_on_by_chance() {
  Chance& chance = Chance::instance();
  if (is_threaded || !chance.one_in(2)) return;
  std::vector<Stream*> all;
  {
    const std::lock_guard lock(mutex);
    all = alive();
  }
  constexpr std::uint64_t most_jobs = 4;
  for (std::size_t i = all.size(); i > 0; --i) {
    std::swap(all[i - 1], all[chance.below(i)]);
    drive(*all[i - 1], chance.below(most_jobs));
  }
}

void Runtime::State::sweep() {
  if (!all_empty()) return;
  for (const auto& [kind, address] : released) {
    if (kind == MemoryKind::device) {
      DeviceArena::instance().release(address);
      continue;
    }
    std::memset(address, 0xdd, sizes[address]);
    sizes.erase(address);
    std::free(address);
  }
  released.clear();
}

}  // namespace tutti::standin
