// SPDX-License-Identifier: BSD-3-Clause
#include "step_graph.hpp"

#include <tutti/error.hpp>

namespace dlrm {

StepGraph::Mode StepGraph::mode(std::uint64_t key) const {
  if (!graph_.is_empty() && key_ == key) {
    return Mode::launched;
  }
  return seen_ == key ? Mode::captured : Mode::direct;
}

void StepGraph::capture(std::uint64_t key, const std::function<void()>& enqueue) {
  drop();
  graph_ = tutti::DeviceGraph::capture(gpu_->call_stream(), enqueue);
  key_ = key;
  launch();
}

void StepGraph::launch() { graph_.launch(gpu_->call_stream()); }

void StepGraph::drop() noexcept {
  if (graph_.is_empty()) {
    return;
  }
  try {
    gpu_->wait();
  } catch (const tutti::Error&) {  // NOLINT(bugprone-empty-catch): a device that failed launches nothing any more
  }
  graph_ = {};
}

}  // namespace dlrm
