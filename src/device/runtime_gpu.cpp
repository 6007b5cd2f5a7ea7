// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <array>

#include "device/beside_captures.hpp"
#include "device/driver.hpp"
#include "device/runtime.hpp"
#include "device/vendor.hpp"

namespace tutti::detail::device {
namespace {

using Code = TUTTI_GPU(Error_t);
using GpuStream = TUTTI_GPU(Stream_t);
using GpuEvent = TUTTI_GPU(Event_t);
using Graph = TUTTI_GPU(Graph_t);
using GraphExec = TUTTI_GPU(GraphExec_t);

/// Forgets a failure of what is released.
void ignore(Code code) noexcept {
  if (code != TUTTI_GPU(Success)) forget(code);
}

bool is_ready(Code code, const char* what) {
  if (code == TUTTI_GPU(ErrorNotReady)) {
    forget(code);
    return false;
  }
  check(code, what);
  return true;
}

struct Capture {
  std::uint64_t id = 0;
  Graph graph = nullptr;
};

Capture find_capture(GpuStream stream) {
  TUTTI_GPU(StreamCaptureStatus) status = TUTTI_GPU(StreamCaptureStatusNone);
  unsigned long long id = 0;
  Graph graph = nullptr;
  const Code code = vendor::capture_info(stream, status, id, graph);
  // The default stream cannot be captured; another stream is, whose capture its use would end.
  if (code == TUTTI_GPU(ErrorStreamCaptureImplicit)) {
    forget(code);
    return {};
  }
  check(code, TUTTI_GPU_TEXT(StreamGetCaptureInfo));
  if (status == TUTTI_GPU(StreamCaptureStatusNone)) return {};
  // An invalidated capture has no number, but nothing may run on its stream either.
  return {id != 0 ? id : ~std::uint64_t{0}, graph};
}

static_assert(static_cast<int>(CaptureMode::global) == TUTTI_GPU(StreamCaptureModeGlobal) &&
              static_cast<int>(CaptureMode::thread_local_) == TUTTI_GPU(StreamCaptureModeThreadLocal) &&
              static_cast<int>(CaptureMode::relaxed) == TUTTI_GPU(StreamCaptureModeRelaxed));

GpuStream stream_of(StreamHandle handle) { return static_cast<GpuStream>(handle); }
GpuEvent event_of(EventHandle handle) { return static_cast<GpuEvent>(handle); }

class GpuRuntime final : public Runtime {
 public:
  [[nodiscard]] Vendor vendor() const noexcept override { return vendor::is; }

  bool has_context() noexcept override { return Driver::instance().has_context(); }

  int device_count() override {
    int count = 0;
    const Code code = TUTTI_GPU(GetDeviceCount)(&count);
    if (code == TUTTI_GPU(ErrorNoDevice) || code == TUTTI_GPU(ErrorInsufficientDriver)) {
      forget(code);
      return 0;
    }
    check(code, TUTTI_GPU_TEXT(GetDeviceCount));
    return count;
  }

  int current_device() override {
    int device = 0;
    TUTTI_GPU_CALL(GetDevice, &device);
    return device;
  }

  void set_current_device(int device) override { TUTTI_GPU_CALL(SetDevice, device); }

  void enter_device(int device) override {
    if (!Driver::instance().push(device))
      throw Error(ErrorCode::cuda, fmt::format("device {}: its context cannot be made current", device));
  }

  void leave_device(int /*former*/) override { Driver::instance().pop(); }

  Uuid uuid(int device) override {
    Uuid uuid{};
    if (Driver::instance().uuid(device, uuid)) return uuid;
    check(vendor::uuid(uuid, device), TUTTI_GPU_TEXT(GetDeviceProperties));
    return uuid;
  }

  std::string device_name(int device) override {
    vendor::Properties properties{};
    TUTTI_GPU_CALL(GetDeviceProperties, &properties, device);
    return properties.name;
  }

  std::string bus_id(int device) override {
    std::array<char, 32> text{};
    TUTTI_GPU_CALL(DeviceGetPCIBusId, text.data(), static_cast<int>(text.size()), device);
    return text.data();
  }

  int capability(int device) override {
    int number = 0;
    check(vendor::capability(number, device), TUTTI_GPU_TEXT(DeviceGetAttribute));
    return number;
  }

  int driver_version() override {
    int version = 0;
    TUTTI_GPU_CALL(DriverGetVersion, &version);
    return version;
  }

  int runtime_version() override {
    int version = 0;
    TUTTI_GPU_CALL(RuntimeGetVersion, &version);
    return version;
  }

  Pointer inspect(const void* address) override {
    Pointer pointer;
    if (Driver::instance().inspect(address, pointer)) return pointer;
    vendor::PointerAttributes attributes{};
    const Code code = TUTTI_GPU(PointerGetAttributes)(&attributes, address);
    if (code == TUTTI_GPU(Success)) return vendor::pointer_of(attributes);
    forget(code);
    return {};
  }

  void* allocate(MemoryKind kind, std::size_t bytes) override {
    const BesideCaptures beside;
    void* address = nullptr;
    switch (kind) {
      case MemoryKind::pinned:
        check(vendor::allocate_pinned(&address, bytes), TUTTI_GPU_TEXT(HostAlloc));
        break;
      case MemoryKind::device:
        TUTTI_GPU_CALL(Malloc, &address, bytes);
        break;
      case MemoryKind::managed:
        TUTTI_GPU_CALL(MallocManaged, &address, bytes, TUTTI_GPU(MemAttachGlobal));
        break;
      default:
        throw Error(ErrorCode::internal,
                    fmt::format("{} cannot allocate {} memory", vendor::name, memory_kind_name(kind)));
    }
    return address;
  }

  void release(MemoryKind kind, void* address) noexcept override {
    const BesideCaptures beside;
    ignore(kind == MemoryKind::pinned ? vendor::release_pinned(address) : TUTTI_GPU(Free)(address));
  }

  void* allocate_ordered(std::size_t bytes, StreamHandle stream) override {
    int device = 0;
    int has_pool = 0;
    TUTTI_GPU_CALL(GetDevice, &device);
    check(vendor::has_memory_pool(has_pool, device), TUTTI_GPU_TEXT(DeviceGetAttribute));
    if (has_pool == 0) return nullptr;
    void* address = nullptr;
    TUTTI_GPU_CALL(MallocAsync, &address, bytes, stream_of(stream));
    return address;
  }

  void release_ordered(void* address, StreamHandle stream) noexcept override {
    ignore(TUTTI_GPU(FreeAsync)(address, stream_of(stream)));
  }

  void finish_device() override {
    const BesideCaptures beside;
    TUTTI_GPU_CALL(DeviceSynchronize);
  }

  void copy(void* to, const void* from, std::size_t bytes, StreamHandle stream) override {
    TUTTI_GPU_CALL(MemcpyAsync, to, from, bytes, TUTTI_GPU(MemcpyDefault), stream_of(stream));
  }

  void copy_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                 std::size_t rows, StreamHandle stream) override {
    if (to_pitch == width && from_pitch == width) return copy(to, from, width * rows, stream);
    TUTTI_GPU_CALL(Memcpy2DAsync, to, to_pitch, from, from_pitch, width, rows, TUTTI_GPU(MemcpyDefault),
                   stream_of(stream));
  }

  void fill_zero(void* to, std::size_t bytes, StreamHandle stream) override {
    TUTTI_GPU_CALL(MemsetAsync, to, 0, bytes, stream_of(stream));
  }

  /// Has the highest priority, so that communication starts even while other work fills the device.
  StreamHandle create_stream() override {
    int lowest = 0;
    int highest = 0;
    TUTTI_GPU_CALL(DeviceGetStreamPriorityRange, &lowest, &highest);
    GpuStream stream = nullptr;
    TUTTI_GPU_CALL(StreamCreateWithPriority, &stream, TUTTI_GPU(StreamNonBlocking), highest);
    return stream;
  }

  void destroy_stream(StreamHandle stream) noexcept override { ignore(TUTTI_GPU(StreamDestroy)(stream_of(stream))); }

  int device_of(StreamHandle stream) override {
    int device = 0;
    return !is_default(stream) && Driver::instance().device_of(stream, device) ? device : current_device();
  }

  EventHandle create_event() override {
    GpuEvent event = nullptr;
    TUTTI_GPU_CALL(EventCreateWithFlags, &event, TUTTI_GPU(EventDisableTiming));
    return event;
  }

  void destroy_event(EventHandle event) noexcept override { ignore(TUTTI_GPU(EventDestroy)(event_of(event))); }

  void record(EventHandle event, StreamHandle stream) override {
    TUTTI_GPU_CALL(EventRecord, event_of(event), stream_of(stream));
  }

  bool is_complete(EventHandle event) override {
    const BesideCaptures beside;
    return is_ready(TUTTI_GPU(EventQuery)(event_of(event)), TUTTI_GPU_TEXT(EventQuery));
  }

  void wait_event(StreamHandle stream, EventHandle event) override {
    TUTTI_GPU_CALL(StreamWaitEvent, stream_of(stream), event_of(event), 0);
  }

  bool is_idle(StreamHandle stream) override {
    const BesideCaptures beside;
    return is_ready(TUTTI_GPU(StreamQuery)(stream_of(stream)), TUTTI_GPU_TEXT(StreamQuery));
  }

  std::uint64_t capture_of(StreamHandle stream) override { return find_capture(stream_of(stream)).id; }

  CaptureMode exchange_capture_mode(CaptureMode mode) noexcept override {
    auto exchanged = static_cast<TUTTI_GPU(StreamCaptureMode)>(mode);
    (void)TUTTI_GPU(ThreadExchangeStreamCaptureMode)(&exchanged);
    return static_cast<CaptureMode>(exchanged);
  }

  void retain_by_graph(StreamHandle stream, void (*let_go)(void*), void* data) override {
    const Capture capture = find_capture(stream_of(stream));
    if (capture.graph == nullptr)
      throw Error(ErrorCode::cuda, "the stream is not under capture, or its capture was invalidated");
    check(vendor::retain(capture.graph, let_go, data), TUTTI_GPU_TEXT(GraphRetainUserObject));
  }

  void start_graph(StreamHandle stream) override {
    TUTTI_GPU_CALL(StreamBeginCapture, stream_of(stream), TUTTI_GPU(StreamCaptureModeThreadLocal));
  }

  GraphHandle finish_graph(StreamHandle stream) override {
    Graph graph = nullptr;
    TUTTI_GPU_CALL(StreamEndCapture, stream_of(stream), &graph);
    GraphExec executable = nullptr;
    const Code code = TUTTI_GPU(GraphInstantiateWithFlags)(&executable, graph, 0);
    (void)TUTTI_GPU(GraphDestroy)(graph);
    check(code, TUTTI_GPU_TEXT(GraphInstantiateWithFlags));
    return executable;
  }

  void launch_graph(GraphHandle graph, StreamHandle stream) override {
    TUTTI_GPU_CALL(GraphLaunch, static_cast<GraphExec>(graph), stream_of(stream));
  }

  void release_graph(GraphHandle graph) noexcept override {
    ignore(TUTTI_GPU(GraphExecDestroy)(static_cast<GraphExec>(graph)));
  }

  bool has_stream_flags(int device) override {
    return vendor::can_wait_for_words() && Driver::instance().has_stream_memory_operations(device);
  }

  void wait_flag(StreamHandle stream, const std::uint32_t* word, std::uint32_t value) override {
    if (!vendor::can_wait_for_words())
      throw Error(ErrorCode::cuda, fmt::format("streams of {} cannot wait for a word of pinned memory", vendor::name));
    void* address = nullptr;
    TUTTI_GPU_CALL(HostGetDevicePointer, &address, const_cast<std::uint32_t*>(word), 0);
    if (const int code = vendor::wait_for_word(stream_of(stream), address, value); code != 0)
      throw Error(ErrorCode::cuda, fmt::format("the wait of a stream for a word failed: error {} of the driver", code));
  }
};

}  // namespace

Runtime* built_runtime() noexcept {
  static auto* all = new GpuRuntime;
  return all;
}

}  // namespace tutti::detail::device
