// SPDX-License-Identifier: BSD-3-Clause
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <tutti/error.hpp>

#include "device/beside_captures.hpp"
#include "device/driver.hpp"
#include "device/runtime.hpp"

namespace tutti::detail::device {
namespace {

/// Clears the error that the runtime keeps, so that the caller's next cudaGetLastError() does not report this
/// library's.
void forget(cudaError_t code) noexcept {
  if (cudaPeekAtLastError() == code) (void)cudaGetLastError();
}

void check(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  forget(code);
  const ErrorCode kind = code == cudaErrorMemoryAllocation ? ErrorCode::out_of_memory : ErrorCode::cuda;
  throw Error(kind, fmt::format("{} failed: {} ({})", what, cudaGetErrorString(code), cudaGetErrorName(code)));
}

bool is_ready(cudaError_t code, const char* what) {
  if (code == cudaErrorNotReady) {
    forget(code);
    return false;
  }
  check(code, what);
  return true;
}

struct Capture {
  std::uint64_t id = 0;
  cudaGraph_t graph = nullptr;
};

Capture find_capture(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  unsigned long long id = 0;
  cudaGraph_t graph = nullptr;
#if CUDART_VERSION >= 13000
  const cudaError_t code = cudaStreamGetCaptureInfo(stream, &status, &id, &graph, nullptr, nullptr, nullptr);
#else
  const cudaError_t code = cudaStreamGetCaptureInfo_v2(stream, &status, &id, &graph, nullptr, nullptr);
#endif
  // The default stream cannot be captured; another stream is, whose capture its use would end.
  if (code == cudaErrorStreamCaptureImplicit) {
    forget(code);
    return {};
  }
  check(code, "cudaStreamGetCaptureInfo");
  if (status == cudaStreamCaptureStatusNone) return {};
  // An invalidated capture has no number, but nothing may run on its stream either.
  return {id != 0 ? id : ~std::uint64_t{0}, graph};
}

using WaitValue = CUresult(CUDAAPI*)(CUstream, CUdeviceptr, cuuint32_t, unsigned);

/// Null if the driver lacks it.
WaitValue find_wait_value() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
#if CUDART_VERSION >= 12050
  constexpr unsigned since = 11070;
  const cudaError_t code =
      cudaGetDriverEntryPointByVersion("cuStreamWaitValue32", &function, since, cudaEnableDefault, &found);
#else
  const cudaError_t code = cudaGetDriverEntryPoint("cuStreamWaitValue32", &function, cudaEnableDefault, &found);
#endif
  if (code != cudaSuccess) forget(code);
  return code == cudaSuccess && found == cudaDriverEntryPointSuccess ? reinterpret_cast<WaitValue>(function) : nullptr;
}

WaitValue wait_value() {
  static const WaitValue function = find_wait_value();
  return function;
}

static_assert(static_cast<int>(CaptureMode::global) == cudaStreamCaptureModeGlobal &&
              static_cast<int>(CaptureMode::thread_local_) == cudaStreamCaptureModeThreadLocal &&
              static_cast<int>(CaptureMode::relaxed) == cudaStreamCaptureModeRelaxed);

cudaStream_t stream_of(StreamHandle handle) { return static_cast<cudaStream_t>(handle); }
cudaEvent_t event_of(EventHandle handle) { return static_cast<cudaEvent_t>(handle); }

class CudaRuntime final : public Runtime {
 public:
  bool has_context() noexcept override { return Driver::instance().has_context(); }

  int device_count() override {
    int count = 0;
    const cudaError_t code = cudaGetDeviceCount(&count);
    if (code == cudaErrorNoDevice || code == cudaErrorInsufficientDriver) {
      forget(code);
      return 0;
    }
    check(code, "cudaGetDeviceCount");
    return count;
  }

  int current_device() override {
    int device = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    return device;
  }

  void set_current_device(int device) override { check(cudaSetDevice(device), "cudaSetDevice"); }

  void enter_device(int device) override {
    if (!Driver::instance().push(device))
      throw Error(ErrorCode::cuda, fmt::format("device {}: its context cannot be made current", device));
  }

  void leave_device(int /*former*/) override { Driver::instance().pop(); }

  Uuid uuid(int device) override {
    Uuid uuid{};
    if (Driver::instance().uuid(device, uuid)) return uuid;
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
    std::memcpy(uuid.data(), properties.uuid.bytes, uuid.size());
    return uuid;
  }

  std::string device_name(int device) override {
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
    return properties.name;
  }

  std::string bus_id(int device) override {
    std::array<char, 32> text{};
    check(cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), device), "cudaDeviceGetPCIBusId");
    return text.data();
  }

  int capability(int device) override {
    int major = 0;
    int minor = 0;
    check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), "cudaDeviceGetAttribute");
    check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device), "cudaDeviceGetAttribute");
    return 10 * major + minor;
  }

  int driver_version() override {
    int version = 0;
    check(cudaDriverGetVersion(&version), "cudaDriverGetVersion");
    return version;
  }

  int runtime_version() override {
    int version = 0;
    check(cudaRuntimeGetVersion(&version), "cudaRuntimeGetVersion");
    return version;
  }

  Pointer inspect(const void* address) override {
    Pointer pointer;
    if (Driver::instance().inspect(address, pointer)) return pointer;
    cudaPointerAttributes attributes{};
    const cudaError_t code = cudaPointerGetAttributes(&attributes, address);
    if (code != cudaSuccess) {
      forget(code);
      return {};
    }
    switch (attributes.type) {
      case cudaMemoryTypeHost:
        return {MemoryKind::pinned, -1};
      case cudaMemoryTypeDevice:
        return {MemoryKind::device, attributes.device};
      case cudaMemoryTypeManaged:
        return {MemoryKind::managed, attributes.device};
      default:
        return {};
    }
  }

  void* allocate(MemoryKind kind, std::size_t bytes) override {
    const BesideCaptures beside;
    void* address = nullptr;
    switch (kind) {
      case MemoryKind::pinned:
        check(cudaHostAlloc(&address, bytes, cudaHostAllocPortable | cudaHostAllocMapped), "cudaHostAlloc");
        break;
      case MemoryKind::device:
        check(cudaMalloc(&address, bytes), "cudaMalloc");
        break;
      case MemoryKind::managed:
        check(cudaMallocManaged(&address, bytes, cudaMemAttachGlobal), "cudaMallocManaged");
        break;
      default:
        throw Error(ErrorCode::internal, fmt::format("CUDA cannot allocate {} memory", memory_kind_name(kind)));
    }
    return address;
  }

  void release(MemoryKind kind, void* address) noexcept override {
    const BesideCaptures beside;
    const cudaError_t code = kind == MemoryKind::pinned ? cudaFreeHost(address) : cudaFree(address);
    if (code != cudaSuccess) forget(code);
  }

  void* allocate_ordered(std::size_t bytes, StreamHandle stream) override {
    int device = 0;
    int has_pool = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaDeviceGetAttribute(&has_pool, cudaDevAttrMemoryPoolsSupported, device), "cudaDeviceGetAttribute");
    if (has_pool == 0) return nullptr;
    void* address = nullptr;
    check(cudaMallocAsync(&address, bytes, stream_of(stream)), "cudaMallocAsync");
    return address;
  }

  void release_ordered(void* address, StreamHandle stream) noexcept override {
    const cudaError_t code = cudaFreeAsync(address, stream_of(stream));
    if (code != cudaSuccess) forget(code);
  }

  void finish_device() override {
    const BesideCaptures beside;
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }

  void copy(void* to, const void* from, std::size_t bytes, StreamHandle stream) override {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_of(stream)), "cudaMemcpyAsync");
  }

  void copy_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                 std::size_t rows, StreamHandle stream) override {
    if (to_pitch == width && from_pitch == width) return copy(to, from, width * rows, stream);
    check(cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, rows, cudaMemcpyDefault, stream_of(stream)),
          "cudaMemcpy2DAsync");
  }

  void fill_zero(void* to, std::size_t bytes, StreamHandle stream) override {
    check(cudaMemsetAsync(to, 0, bytes, stream_of(stream)), "cudaMemsetAsync");
  }

  /// Has the highest priority, so that communication starts even while other work fills the device.
  StreamHandle create_stream() override {
    int lowest = 0;
    int highest = 0;
    check(cudaDeviceGetStreamPriorityRange(&lowest, &highest), "cudaDeviceGetStreamPriorityRange");
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, highest), "cudaStreamCreateWithPriority");
    return stream;
  }

  void destroy_stream(StreamHandle stream) noexcept override {
    const cudaError_t code = cudaStreamDestroy(stream_of(stream));
    if (code != cudaSuccess) forget(code);
  }

  EventHandle create_event() override {
    cudaEvent_t event = nullptr;
    check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreateWithFlags");
    return event;
  }

  void destroy_event(EventHandle event) noexcept override {
    const cudaError_t code = cudaEventDestroy(event_of(event));
    if (code != cudaSuccess) forget(code);
  }

  void record(EventHandle event, StreamHandle stream) override {
    check(cudaEventRecord(event_of(event), stream_of(stream)), "cudaEventRecord");
  }

  bool is_complete(EventHandle event) override {
    const BesideCaptures beside;
    return is_ready(cudaEventQuery(event_of(event)), "cudaEventQuery");
  }

  void wait_event(StreamHandle stream, EventHandle event) override {
    check(cudaStreamWaitEvent(stream_of(stream), event_of(event), 0), "cudaStreamWaitEvent");
  }

  bool is_idle(StreamHandle stream) override {
    const BesideCaptures beside;
    return is_ready(cudaStreamQuery(stream_of(stream)), "cudaStreamQuery");
  }

  std::uint64_t capture_of(StreamHandle stream) override { return find_capture(stream_of(stream)).id; }

  CaptureMode exchange_capture_mode(CaptureMode mode) noexcept override {
    auto exchanged = static_cast<cudaStreamCaptureMode>(mode);
    (void)cudaThreadExchangeStreamCaptureMode(&exchanged);
    return static_cast<CaptureMode>(exchanged);
  }

  void retain_by_graph(StreamHandle stream, void (*let_go)(void*), void* data) override {
    const Capture capture = find_capture(stream_of(stream));
    if (capture.graph == nullptr)
      throw Error(ErrorCode::cuda, "the stream is not under capture, or its capture was invalidated");
    cudaUserObject_t object = nullptr;
    check(cudaUserObjectCreate(&object, data, let_go, 1, cudaUserObjectNoDestructorSync), "cudaUserObjectCreate");
    const cudaError_t code = cudaGraphRetainUserObject(capture.graph, object, 1, cudaGraphUserObjectMove);
    if (code != cudaSuccess) (void)cudaUserObjectRelease(object, 1);
    check(code, "cudaGraphRetainUserObject");
  }

  void start_graph(StreamHandle stream) override {
    check(cudaStreamBeginCapture(stream_of(stream), cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  }

  GraphHandle finish_graph(StreamHandle stream) override {
    cudaGraph_t graph = nullptr;
    check(cudaStreamEndCapture(stream_of(stream), &graph), "cudaStreamEndCapture");
    cudaGraphExec_t executable = nullptr;
    const cudaError_t code = cudaGraphInstantiate(&executable, graph, 0);
    (void)cudaGraphDestroy(graph);
    check(code, "cudaGraphInstantiate");
    return executable;
  }

  void launch_graph(GraphHandle graph, StreamHandle stream) override {
    check(cudaGraphLaunch(static_cast<cudaGraphExec_t>(graph), stream_of(stream)), "cudaGraphLaunch");
  }

  void release_graph(GraphHandle graph) noexcept override {
    const cudaError_t code = cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(graph));
    if (code != cudaSuccess) forget(code);
  }

  bool has_stream_flags(int device) override {
    return wait_value() != nullptr && Driver::instance().has_stream_memory_operations(device);
  }

  void wait_flag(StreamHandle stream, const std::uint32_t* word, std::uint32_t value) override {
    const WaitValue wait = wait_value();
    if (wait == nullptr) throw Error(ErrorCode::cuda, "the CUDA driver has no cuStreamWaitValue32");
    void* address = nullptr;
    check(cudaHostGetDevicePointer(&address, const_cast<std::uint32_t*>(word), 0), "cudaHostGetDevicePointer");
    const CUresult code =
        wait(stream_of(stream), reinterpret_cast<CUdeviceptr>(address), value, CU_STREAM_WAIT_VALUE_GEQ);
    if (code != CUDA_SUCCESS)
      throw Error(ErrorCode::cuda, fmt::format("cuStreamWaitValue32 failed: CUresult {}", static_cast<int>(code)));
  }
};

}  // namespace

Runtime* built_runtime() noexcept {
  static auto* all = new CudaRuntime;
  return all;
}

}  // namespace tutti::detail::device
