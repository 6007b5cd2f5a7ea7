// SPDX-License-Identifier: BSD-3-Clause
// Captures of streams into graphs.
#include <utility>

#include "support/standin/state.hpp"

namespace tutti::standin {

using detail::device::CaptureMode;

void Runtime::begin_capture(StreamHandle handle, CaptureMode mode) {
  const std::lock_guard lock(state_->mutex);
  Stream& stream = state_->stream_of(handle);
  if (stream.capture != 0) refuse("begin_capture: the stream is captured already");
  stream.capture = ++state_->last_capture;
  stream.lane = 0;
  const auto graph = std::make_shared<Graph>();
  graph->mode = mode;
  graph->thread = std::this_thread::get_id();
  state_->captures[stream.capture] = graph;
}

CaptureMode Runtime::exchange_capture_mode(CaptureMode mode) noexcept {
  const std::lock_guard lock(state_->mutex);
  ++state_->questions["exchange_capture_mode"];
  return std::exchange(state_->modes[std::this_thread::get_id()], mode);
}

bool Runtime::forbids_unsafe_calls() const {
  const std::lock_guard lock(state_->mutex);
  const auto own = std::this_thread::get_id();
  const auto found = state_->modes.find(own);
  const CaptureMode mode = found == state_->modes.end() ? CaptureMode::global : found->second;
  if (mode == CaptureMode::relaxed) return false;
  return std::ranges::any_of(state_->captures, [&](const auto& capture) {
    const Graph& graph = *capture.second;
    if (graph.thread == own) return graph.mode != CaptureMode::relaxed;
    return mode == CaptureMode::global && graph.mode == CaptureMode::global;
  });
}

int Runtime::end_capture(StreamHandle handle) {
  const std::lock_guard lock(state_->mutex);
  Stream& origin = state_->stream_of(handle);
  if (origin.capture == 0 || origin.lane != 0) refuse("end_capture: the stream began no capture");
  const std::uint64_t id = origin.capture;
  for (Stream* stream : state_->streams)
    if (stream->capture == id) stream->capture = 0;
  const std::shared_ptr<Graph> graph = state_->captures.at(id);
  state_->captures.erase(id);
  if (!graph->is_joined()) refuse("end_capture: a stream that takes part has not joined");
  state_->graphs[++state_->last_graph] = graph;
  return state_->last_graph;
}

void Runtime::launch(int graph, StreamHandle stream) {
  const std::lock_guard lock(state_->mutex);
  if (state_->stream_of(stream).capture != 0) refuse("launch: the stream is captured");
  const std::shared_ptr<Graph>& captured = state_->graphs.at(graph);
  const bool has_nccl = std::ranges::any_of(captured->lanes, [](const auto& lane) {
    return std::ranges::any_of(lane, [](const Graph::Node& node) { return node.job.name.starts_with("nccl"); });
  });
  enqueue(stream, has_nccl ? "nccl graph" : "graph", run_of(captured));
}

void Runtime::destroy_graph(int graph) {
  std::shared_ptr<Graph> last;
  const std::lock_guard lock(state_->mutex);
  last = std::move(state_->graphs.at(graph));
  state_->graphs.erase(graph);
}

detail::device::GraphHandle Runtime::finish_graph(StreamHandle stream) {
  return reinterpret_cast<detail::device::GraphHandle>(static_cast<std::intptr_t>(end_capture(stream)));
}

void Runtime::launch_graph(detail::device::GraphHandle graph, StreamHandle stream) {
  {
    const std::lock_guard lock(state_->mutex);
    note("launch_graph");
  }
  launch(static_cast<int>(reinterpret_cast<std::intptr_t>(graph)), stream);
}

void Runtime::release_graph(detail::device::GraphHandle graph) noexcept {
  destroy_graph(static_cast<int>(reinterpret_cast<std::intptr_t>(graph)));
}

bool Runtime::is_captured(StreamHandle stream) const {
  const std::lock_guard lock(state_->mutex);
  return state_->stream_of(stream).capture != 0;
}

std::uint64_t Runtime::capture_of(StreamHandle stream) {
  const std::lock_guard lock(state_->mutex);
  ++state_->questions["capture_of"];
  return state_->stream_of(stream).capture;
}

void Runtime::retain_by_graph(StreamHandle handle, void (*let_go)(void*), void* data) {
  const std::lock_guard lock(state_->mutex);
  note("retain_by_graph");
  const Stream& stream = state_->stream_of(handle);
  if (stream.capture == 0) refuse("retain_by_graph: the stream is not captured");
  state_->captures.at(stream.capture)->retained.push_back({let_go, data});
}

}  // namespace tutti::standin
