// SPDX-License-Identifier: BSD-3-Clause
// The public device.hpp: what programs need of the folder.
#include <mutex>
#include <tutti/device.hpp>
#include <tutti/error.hpp>
#include <utility>

#include "device/pool.hpp"
#include "device/runtime.hpp"
#include "device/traffic.hpp"

namespace tutti {

namespace {

namespace lower = detail::device;

lower::Runtime& runtime() { return lower::required_runtime("device memory"); }

/// Polls at once for a while, since most waits are short; then others get the processor.
template <typename IsDone>
void wait_until(const IsDone& is_done) {
  constexpr int patient_polls = 256;
  for (int poll = 0; !is_done(); ++poll)
    if (poll >= patient_polls) lower::give_way();
}

}  // namespace

std::string why_no_device() {
  lower::Runtime* found = lower::runtime();
  if (found == nullptr) return lower::no_runtime_text;
  try {
    return found->device_count() > 0 ? "" : "no GPU was found";
  } catch (const Error& error) {
    return std::string("no GPU was found (") + error.what() + ")";
  }
}

int device_count() noexcept {
  try {
    lower::Runtime* found = lower::runtime();
    return found == nullptr ? 0 : found->device_count();
  } catch (const std::exception&) {
    return 0;
  }
}

int current_device() { return runtime().current_device(); }
void set_current_device(int device) { runtime().set_current_device(device); }
std::string device_name(int device) { return runtime().device_name(device); }

bool is_idle(Stream stream) { return runtime().is_idle(stream.handle); }

void wait_stream(Stream stream) {
  wait_until([&] { return runtime().is_idle(stream.handle); });
}

void copy_bytes(void* to, const void* from, std::size_t bytes, Stream stream) {
  if (bytes > 0) runtime().copy(to, from, bytes, stream.handle);
}

void clear_bytes(void* to, std::size_t bytes, Stream stream) {
  if (bytes > 0) runtime().fill_zero(to, bytes, stream.handle);
}

DeviceStream::DeviceStream() : handle_(lower::required_runtime("a stream").create_stream()) {}

DeviceStream::~DeviceStream() {
  if (lower::Runtime* found = lower::runtime()) found->destroy_stream(handle_);
}

/// A block of a pool, or managed memory, which has none.
struct DeviceMemory::State {
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    lower::Runtime* found = lower::runtime();
    if (managed != nullptr && found != nullptr) found->release(MemoryKind::managed, managed);
  }
  lower::Block block{};
  void* managed = nullptr;
};

DeviceMemory::DeviceMemory() noexcept = default;
DeviceMemory::~DeviceMemory() = default;

DeviceMemory::DeviceMemory(DeviceMemory&& other) noexcept
    : state_(std::move(other.state_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

DeviceMemory& DeviceMemory::operator=(DeviceMemory&& other) noexcept {
  state_ = std::move(other.state_);
  data_ = std::exchange(other.data_, nullptr);
  size_ = std::exchange(other.size_, 0);
  return *this;
}

DeviceMemory::DeviceMemory(MemoryKind kind, std::size_t bytes) : size_(bytes) {
  if (kind != MemoryKind::device && kind != MemoryKind::pinned && kind != MemoryKind::managed)
    throw Error(ErrorCode::invalid_argument, std::string("DeviceMemory: the kind is ") + memory_kind_name(kind) +
                                                 "; give device, pinned or managed");
  lower::Runtime& cuda = runtime();
  if (bytes == 0) return;
  state_ = std::make_unique<State>();
  if (kind == MemoryKind::managed) {
    state_->managed = cuda.allocate(kind, bytes);
    data_ = static_cast<std::byte*>(state_->managed);
  } else {
    state_->block = lower::Pool::of(kind, cuda.current_device()).acquire(bytes);
    data_ = state_->block.data();
  }
}

struct DeviceEvent::State {
  lower::Event event{};
};

DeviceEvent::DeviceEvent() noexcept = default;
DeviceEvent::~DeviceEvent() = default;
DeviceEvent::DeviceEvent(DeviceEvent&&) noexcept = default;
DeviceEvent& DeviceEvent::operator=(DeviceEvent&&) noexcept = default;

void DeviceEvent::record(Stream stream) {
  lower::Runtime& cuda = runtime();
  if (state_ == nullptr) state_ = std::make_unique<State>();
  state_->event.record(cuda.device_of(stream.handle), stream.handle);
}

bool DeviceEvent::is_complete() const { return state_ == nullptr || state_->event.is_complete(); }

void DeviceEvent::wait() const {
  wait_until([this] { return is_complete(); });
}

void DeviceEvent::hold(Stream stream) const {
  if (state_ != nullptr) runtime().wait_event(stream.handle, state_->event.handle());
}

DeviceGraph::~DeviceGraph() {
  lower::Runtime* found = lower::runtime();
  if (handle_ != nullptr && found != nullptr) found->release_graph(handle_);
}

DeviceGraph::DeviceGraph(DeviceGraph&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), device_(other.device_) {}

DeviceGraph& DeviceGraph::operator=(DeviceGraph&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(device_, other.device_);
  return *this;
}

DeviceGraph DeviceGraph::capture(Stream stream, const std::function<void()>& enqueue) {
  lower::Runtime& cuda = runtime();
  DeviceGraph graph;
  graph.device_ = cuda.device_of(stream.handle);
  cuda.start_graph(stream.handle);
  try {
    enqueue();
  } catch (...) {
    try {
      cuda.release_graph(cuda.finish_graph(stream.handle));
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch): what broke the capture is what is told
    }
    throw;
  }
  graph.handle_ = cuda.finish_graph(stream.handle);
  return graph;
}

void DeviceGraph::launch(Stream stream) const {
  if (is_empty()) throw Error(ErrorCode::invalid_argument, "DeviceGraph: an empty graph is launched; capture it first");
  // NCCL work of a graph is in flight as any other, and launched in the same order on all ranks.
  auto& traffic = lower::Traffic::of(device_);
  const lower::Turn turn(traffic, lower::give_way);
  traffic.follow(stream.handle);
  runtime().launch_graph(handle_, stream.handle);
  traffic.note_launch(stream.handle);
}

}  // namespace tutti
