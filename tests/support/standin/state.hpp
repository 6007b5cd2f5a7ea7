// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <set>
#include <thread>
#include <tutti/error.hpp>
#include <vector>

#include "support/standin/chance.hpp"
#include "support/standin/device_arena.hpp"
#include "support/standin/runtime.hpp"
#include "support/standin/stream.hpp"

namespace tutti::standin {

[[noreturn]] inline void refuse(const std::string& problem) {
  throw Error(ErrorCode::cuda, "stand-in of CUDA: " + problem);
}

struct Piece {
  std::size_t bytes = 0;
  MemoryKind kind = MemoryKind::device;
  int device = 0;
};

struct Runtime::State {
  State(int count, std::size_t queue_count)
      : queues(queue_count > 0 ? queue_count : number_of("TUTTI_TEST_HARDWARE_QUEUES", 8)),
        devices(static_cast<std::size_t>(count)),
        uuids(static_cast<std::size_t>(count)) {
    for (std::size_t i = 0; i < uuids.size(); ++i) {
      uuids[i].fill(static_cast<unsigned char>(i + 1));
      devices[i].device = static_cast<int>(i);
    }
  }

  mutable std::recursive_mutex mutex;
  bool is_threaded = is_set("TUTTI_TEST_STREAM_THREADS");
  bool is_over = false;
  std::vector<std::map<std::uint64_t, Stream*>> queues;
  std::uint64_t last_number = 0;
  std::vector<Stream> devices;  ///< the default stream of each
  std::vector<detail::device::Uuid> uuids;
  std::map<std::thread::id, int> current;
  std::set<Stream*> streams;
  std::vector<std::unique_ptr<Stream>> made;
  std::map<EventHandle, Mark> events;
  std::map<EventHandle, int> event_devices;
  std::map<std::uintptr_t, Piece> memory;
  std::vector<std::pair<MemoryKind, void*>> released;  ///< that work under way may still use
  std::map<void*, std::size_t> sizes;                  ///< of memory on the heap
  std::size_t used = 0;
  std::size_t most = ~std::size_t{0};
  std::size_t forbidden = 0;
  std::set<std::pair<int, const void*>> loaded;  ///< kernels, by device
  std::multiset<std::string> failures;
  std::map<std::string, std::size_t> questions;
  std::map<std::uint64_t, std::shared_ptr<Graph>> captures;
  std::map<int, std::shared_ptr<Graph>> graphs;
  std::map<std::thread::id, detail::device::CaptureMode> modes;  ///< global where none is given
  std::uint64_t last_capture = 0;
  std::atomic<std::chrono::steady_clock::time_point> asked{std::chrono::steady_clock::now()};  ///< the last call
  std::uintptr_t last_handle = 0x1000;
  int last_graph = 0;
  bool has_context = true;
  std::atomic<void (*)()> arrivals{nullptr};
  bool is_installed = false;
  detail::device::Runtime* former = nullptr;

  int current_device() {
    const auto found = current.find(std::this_thread::get_id());
    return found == current.end() ? 0 : found->second;
  }

  Stream& stream_of(StreamHandle handle) {
    if (detail::device::is_default(handle)) return devices[static_cast<std::size_t>(current_device())];
    auto* stream = static_cast<Stream*>(handle);
    if (!streams.contains(stream) || stream->is_destroyed) refuse("no such stream");
    return *stream;
  }

  Mark& mark_of(EventHandle event) {
    const auto found = events.find(event);
    if (found == events.end()) refuse("no such event");
    return found->second;
  }

  static bool is_set(const char* variable) { return number_of(variable, 0) != 0; }
  static std::size_t number_of(const char* variable, std::size_t otherwise) {
    const char* text = std::getenv(variable);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
  }

  void add(Stream& stream, Job job) {
    if (stream.capture == 0) {
      job.number = ++last_number;
      queues[stream.queue].emplace(job.number, &stream);
      stream.jobs.push_back(std::move(job));
      stream.has_work.notify_one();
    } else
      captures.at(stream.capture)->lanes[stream.lane].push_back({std::move(job), 0, 0});
  }

  /// A stream waits for an event of a capture: it takes part from now on.
  void join(Stream& stream, const Mark& mark) {
    const auto found = captures.find(mark.capture);
    if (found == captures.end()) refuse("wait_event: the capture that the event was recorded in has ended");
    if (stream.capture != 0 && stream.capture != mark.capture) refuse("wait_event: the event is of another capture");
    Graph& graph = *found->second;
    if (stream.capture == 0) {
      stream.capture = mark.capture;
      stream.lane = graph.lanes.size();
      graph.lanes.emplace_back();
    }
    graph.lanes[stream.lane].push_back({Job{"wait_event", [] { return true; }}, mark.lane, mark.position});
  }

  /// The streams that can have work; a destroyed one stays until its work is done.
  std::vector<Stream*> alive() {
    std::erase_if(streams, [](const Stream* s) { return s->is_destroyed && s->jobs.empty(); });
    return {streams.begin(), streams.end()};
  }

  bool all_empty() const {
    return std::ranges::all_of(streams, [](const Stream* s) { return s->jobs.empty(); });
  }

  bool has_nccl_work() const {
    return std::ranges::any_of(streams, [](const Stream* s) {
      return std::ranges::any_of(s->jobs, [](const Job& job) { return job.name.starts_with("nccl"); });
    });
  }

  /// Puts a stream on a hardware queue, and gives it a thread where each has one.
  void begin(Stream& stream);
  /// What a stream's thread does.
  void serve(Stream& stream);
  void join_threads();
  /// Whether a stream's first job may begin, as far as its hardware queue goes.
  [[nodiscard]] bool leaves_queue(Stream& stream, const Job& job);
  /// By chance, some streams go on a little.
  void go_on_by_chance();
  /// At most `most` jobs of a stream, what they wait for before them. Nobody holds the mutex while a job is called.
  void drive(Stream& stream, std::size_t most_jobs, int depth = 0);
  bool step(Stream& stream);
  /// The stream as far as it goes; where `done` is false then, all others a step.
  bool ask(Stream& stream, const std::function<bool()>& done);
  void sweep();
  /// At the end: no work is left.
  void drop_streams() {
    for (Stream* stream : streams) stream->jobs.clear();
  }
};

}  // namespace tutti::standin
