// SPDX-License-Identifier: BSD-3-Clause
// What tests and the other stand-ins ask of the stand-in.
#include <mpi.h>
#include <sched.h>

#include <chrono>

#include "call/progress.hpp"
#include "device/beside_captures.hpp"
#include "support/standin/state.hpp"

namespace tutti::standin {

Runtime* Runtime::installed_ = nullptr;

void Runtime::install() {
  state_->former = detail::device::replace_runtime(this);
  state_->is_installed = true;
  installed_ = this;
  detail::ProgressEngine::instance().add_hook(go_on);
}

void Runtime::go_on() {
  constexpr std::chrono::milliseconds until_alone{10};
  if (installed_ == nullptr || std::chrono::steady_clock::now() - installed_->state_->asked.load() < until_alone)
    return;
  if (installed_->state_->is_threaded) return;
  const detail::device::BesideCaptures beside;
  installed_->run_some();
}

void Runtime::enqueue(StreamHandle stream, const std::string& name, Work work) {
  const std::lock_guard lock(state_->mutex);
  state_->add(state_->stream_of(stream), {name, std::move(work)});
}

std::size_t Runtime::queue_of(StreamHandle stream) const {
  const std::lock_guard lock(state_->mutex);
  return state_->stream_of(stream).queue;
}

void Runtime::enqueue_wait(StreamHandle stream, const std::string& name, Work work) {
  const std::lock_guard lock(state_->mutex);
  state_->add(state_->stream_of(stream), {name, std::move(work), true});
}

bool Runtime::run_some() {
  std::vector<Stream*> streams;
  {
    const std::lock_guard lock(state_->mutex);
    streams = state_->alive();
  }
  {
    const DeviceArena::Work work;  // of all streams
    for (Stream* stream : streams) state_->drive(*stream, 1 + Chance::instance().below(3));
  }
  const std::lock_guard lock(state_->mutex);
  return state_->all_empty();
}

void Runtime::run_all() {
  int has_mpi = 0;
  int is_over = 0;
  MPI_Initialized(&has_mpi);
  MPI_Finalized(&is_over);
  constexpr int rounds = 8;  // between two looks at MPI, which may not touch what they have opened
  const auto goes_on = [this] {
    const DeviceArena::Work work;
    for (int i = 0; i < rounds; ++i)
      if (run_some()) return false;
    return true;
  };
  while (goes_on()) {
    int found = 0;
    if (has_mpi != 0 && is_over == 0)
      MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    sched_yield();
  }
}

void Runtime::drop_all() {
  const std::lock_guard lock(state_->mutex);
  for (Stream* stream : state_->streams) {
    stream->drops_first = stream->is_running;
    while (stream->jobs.size() > (stream->is_running ? 1U : 0U)) {
      state_->queues[stream->queue].erase(stream->jobs.back().number);
      stream->jobs.pop_back();
    }
    stream->waits_for = nullptr;
  }
  for (const auto& [event, mark] : state_->events)
    if (mark.done) mark.done->store(true);
}

void Runtime::clear_record() {
  const std::lock_guard lock(state_->mutex);
  record_.clear();
  state_->questions.clear();
}

std::size_t Runtime::questions(const std::string& name) const {
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->questions.find(name);
  return found == state_->questions.end() ? 0 : found->second;
}

void Runtime::fail_next(const std::string& name) {
  const std::lock_guard lock(state_->mutex);
  state_->failures.insert(name);
}

std::size_t Runtime::live_allocations() const {
  const std::lock_guard lock(state_->mutex);
  return state_->memory.size();
}

std::size_t Runtime::forbidden_allocations() const {
  const std::lock_guard lock(state_->mutex);
  return state_->forbidden;
}

void Runtime::set_memory(std::size_t bytes) {
  const std::lock_guard lock(state_->mutex);
  state_->most = bytes;
}

void Runtime::set_context(bool has) {
  const std::lock_guard lock(state_->mutex);
  state_->has_context = has;
}

void Runtime::set_uuid(int device, detail::device::Uuid uuid) {
  const std::lock_guard lock(state_->mutex);
  state_->uuids.at(static_cast<std::size_t>(device)) = uuid;
}

}  // namespace tutti::standin
