// SPDX-License-Identifier: BSD-3-Clause
#include <tutti.h>

#include <tutti/device.hpp>

#include "handles.hpp"

using namespace tutti::c;
using tutti::DeviceGraph;
using tutti::Error;
using tutti::ErrorCode;

namespace tutti::c {

struct DeviceGraphRecord {
  DeviceGraph graph;
};

template <>
struct HandleKind<tutti_device_graph_t> {
  static inline constinit HandleTable<DeviceGraphRecord> table{8};
  static constexpr const char* noun = "graph";
  static constexpr ErrorCode code = ErrorCode::invalid_argument;
};

}  // namespace tutti::c

int tutti_why_no_device(char* text, size_t capacity, size_t* length) {
  return guard([&] { give_text(tutti::why_no_device(), text, capacity, length); });
}

int tutti_device_count(int* count) {
  return guard([&] { output(count, "count") = tutti::device_count(); });
}

int tutti_current_device(int* device) {
  return guard([&] { output(device, "device") = tutti::current_device(); });
}

int tutti_set_current_device(int device) {
  return guard([&] { tutti::set_current_device(device); });
}

int tutti_stream_is_idle(int stream_kind, void* handle, int* idle) {
  return guard([&] {
    int& found = output(idle, "idle");
    const tutti::Stream chosen = stream_of(stream_kind, handle);
    found = chosen.kind == tutti::StreamKind::none || tutti::is_idle(chosen) ? 1 : 0;
  });
}

int tutti_stream_wait(int stream_kind, void* handle) {
  return guard([&] {
    const tutti::Stream chosen = stream_of(stream_kind, handle);
    if (chosen.kind != tutti::StreamKind::none) tutti::wait_stream(chosen);
  });
}

int tutti_device_graph_capture(int stream_kind, void* handle, tutti_enqueue_t enqueue, void* context,
                               tutti_device_graph_t* graph) {
  return guard([&] {
    output(graph, "graph") = nullptr;
    if (enqueue == nullptr) throw_null("enqueue", "pass the function that puts work on the stream");
    const auto run = [&] {
      const int code = enqueue(context);
      if (code != TUTTI_SUCCESS) throw Error(static_cast<ErrorCode>(code), tutti_error_message());
    };
    *graph =
        make_handle<tutti_device_graph_t>(DeviceGraphRecord{DeviceGraph::capture(stream_of(stream_kind, handle), run)});
  });
}

int tutti_device_graph_launch(tutti_device_graph_t graph, int stream_kind, void* handle) {
  return guard([&] {
    if (graph == nullptr) throw_null("graph", "pass a graph from tutti_device_graph_capture");
    record_of(graph, "graph").graph.launch(stream_of(stream_kind, handle));
  });
}

int tutti_device_graph_free(tutti_device_graph_t* graph) { return free_handle(graph, "graph"); }
