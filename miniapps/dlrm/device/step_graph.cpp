// SPDX-License-Identifier: BSD-3-Clause
#include "step_graph.hpp"

#include <mutex>
#include <tutti/error.hpp>
#include <utility>

#include "device/traffic.hpp"

namespace dlrm {

namespace lower = tutti::detail::device;

StepGraph::StepGraph(StepGraph&& other) noexcept
    : gpu_(other.gpu_), graph_(std::exchange(other.graph_, nullptr)), key_(other.key_), seen_(other.seen_) {}

StepGraph::Way StepGraph::way(std::uint64_t key) const {
  if (graph_ != nullptr && key_ == key) {
    return Way::launched;
  }
  return seen_ == key ? Way::captured : Way::direct;
}

void StepGraph::capture(std::uint64_t key, const std::function<void()>& enqueue) {
  drop();
  lower::Runtime& runtime = *lower::runtime();
  runtime.start_graph(gpu_->stream());
  try {
    enqueue();
  } catch (...) {
    try {
      runtime.release_graph(runtime.finish_graph(gpu_->stream()));
    } catch (const tutti::Error&) {  // NOLINT(bugprone-empty-catch): what broke the capture is what is told
    }
    throw;
  }
  graph_ = runtime.finish_graph(gpu_->stream());
  key_ = key;
  launch();
}

void StepGraph::launch() {
  // The NCCL work of a graph is in flight as any other, and launched in the same order on all ranks.
  auto& traffic = lower::Traffic::of(gpu_->device());
  const std::lock_guard lock(traffic.launch_mutex());
  lower::runtime()->launch_graph(graph_, gpu_->stream());
  traffic.note_launch(gpu_->stream());
}

void StepGraph::drop() noexcept {
  if (graph_ == nullptr) {
    return;
  }
  try {
    gpu_->wait();
  } catch (const tutti::Error&) {  // NOLINT(bugprone-empty-catch): a device that failed launches nothing any more
  }
  lower::runtime()->release_graph(std::exchange(graph_, nullptr));
}

}  // namespace dlrm
