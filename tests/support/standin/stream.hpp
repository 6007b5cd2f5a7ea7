// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "device/runtime.hpp"

namespace tutti::standin {

/// One piece of work in a queue.
struct Job {
  std::string name;
  std::function<bool()> work;
  bool holds_queue = false;  ///< a wait: nothing behind it in the hardware queue begins before its end
  std::uint64_t number = 0;  ///< in the order of calls, of all streams
  bool has_left_queue = false;
};

struct Stream {
  std::deque<Job> jobs;
  int device = 0;
  std::size_t queue = 0;                    ///< of the hardware, which it shares with other streams
  bool drops_first = false;                 ///< the first job, which is being called, counts as done
  std::thread thread{};                     ///< that does its work, where each has one
  std::condition_variable_any has_work{};   ///< for the thread
  bool is_running = false;                  ///< a job of it is being called
  std::atomic<Stream*> waits_for{nullptr};  ///< whose event its first job waits for; goes on first
  std::uint64_t capture = 0;                ///< 0: none
  std::size_t lane = 0;                     ///< of the graph
  bool is_destroyed = false;
};

/// The latest record of an event: of a stream, or of a lane of a graph that is being captured.
struct Mark {
  std::shared_ptr<std::atomic<bool>> done;
  Stream* stream = nullptr;
  std::uint64_t capture = 0;
  std::size_t lane = 0;
  std::size_t position = 0;
};

/// What was captured: a queue for each stream that took part. A job may have to come after the first jobs of another.
struct Graph {
  struct Node {
    Job job;
    std::size_t after_lane = 0;
    std::size_t after_position = 0;
  };
  struct Retained {
    void (*release)(void*);
    void* data;
  };

  Graph() = default;
  ~Graph() {
    for (const Retained& r : retained) r.release(r.data);
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  /// Whether the end of the first lane comes after all of the others.
  [[nodiscard]] bool is_joined() const {
    std::vector<std::size_t> reached(lanes.size(), 0);
    reached[0] = lanes[0].size();
    for (bool goes_on = true; goes_on;) {
      goes_on = false;
      for (std::size_t lane = 0; lane < lanes.size(); ++lane)
        for (std::size_t i = 0; i < reached[lane]; ++i) {
          const Node& node = lanes[lane][i];
          if (reached[node.after_lane] >= node.after_position) continue;
          reached[node.after_lane] = node.after_position;
          goes_on = true;
        }
    }
    for (std::size_t lane = 0; lane < lanes.size(); ++lane)
      if (reached[lane] < lanes[lane].size()) return false;
    return true;
  }

  std::vector<std::vector<Node>> lanes{1};
  std::vector<Retained> retained;
  detail::device::CaptureMode mode{};  ///< of the capture
  std::thread::id thread{};            ///< that began it
};

/// One launch of a graph, as one piece of work: true when all of it is done. The jobs are copies, so that a graph can
/// be launched again.
inline std::function<bool()> run_of(std::shared_ptr<const Graph> graph) {
  struct Run {
    std::vector<std::vector<Graph::Node>> lanes;
    std::vector<std::size_t> at;
  };
  auto run = std::make_shared<Run>(Run{graph->lanes, std::vector<std::size_t>(graph->lanes.size(), 0)});
  return [graph = std::move(graph), run] {
    bool is_done = true;
    // The streams that joined last go first: what must come before them was waited for, or comes too late.
    for (std::size_t lane = run->lanes.size(); lane-- > 0;) {
      std::size_t& at = run->at[lane];
      while (at < run->lanes[lane].size()) {
        const Graph::Node& node = run->lanes[lane][at];
        if (run->at[node.after_lane] < node.after_position || !node.job.work()) break;
        ++at;
      }
      is_done = is_done && at == run->lanes[lane].size();
    }
    return is_done;
  };
}

}  // namespace tutti::standin
