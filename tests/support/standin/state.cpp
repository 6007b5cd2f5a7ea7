// SPDX-License-Identifier: BSD-3-Clause
// How the queues go on.
#include "support/standin/state.hpp"

#include <cstdlib>

namespace tutti::standin {

bool Runtime::State::step(Stream& stream) {
  std::unique_lock lock(mutex);
  if (stream.jobs.empty() || stream.is_running) return false;
  stream.is_running = true;
  Job& job = stream.jobs.front();
  lock.unlock();
  bool done = true;
  std::exception_ptr failure;
  try {
    done = job.work();
  } catch (...) {
    failure = std::current_exception();
  }
  lock.lock();
  stream.is_running = false;
  if (!done) return false;
  stream.waits_for = nullptr;
  const Job finished = std::move(stream.jobs.front());
  stream.jobs.pop_front();
  lock.unlock();
  if (failure) std::rethrow_exception(failure);
  return true;
}

void Runtime::State::drive(Stream& stream, std::size_t most_jobs, int depth) {
  constexpr int deepest = 16;
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

void Runtime::State::sweep() {
  if (!all_empty()) return;
  for (void* address : released) std::free(address);
  released.clear();
}

}  // namespace tutti::standin
