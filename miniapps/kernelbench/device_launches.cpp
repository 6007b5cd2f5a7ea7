// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <chrono>
#include <functional>
#include <tutti/kernels/launch.hpp>

#include "device.hpp"

#if TUTTI_HAVE_CUDA
#include <cuda_runtime_api.h>
#endif

namespace tutti::kernelbench {

namespace {

struct Nothing {
  TUTTI_FUNCTION void operator()(std::size_t /*item*/) const {}
  template <typename Warp>
  TUTTI_FUNCTION void operator()(const Warp& /*warp*/, std::size_t /*item*/) const {}
};

struct TimedCall {
  const char* name;
  std::function<void()> run;
};

/// Microseconds that the host takes for a call, by the median of rounds; the stream has room for all calls of a round.
double host_microseconds(const Queue& queue, const TimedCall& call, int rounds) {
  constexpr int calls = 256;
  std::vector<double> times;
  for (int round = 0; round < rounds + 1; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    for (int k = 0; k < calls; ++k) call.run();
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    queue.wait();
    if (round > 0) times.push_back(took.count() / calls);
  }
  std::nth_element(times.begin(), times.begin() + rounds / 2, times.end());
  return times[static_cast<std::size_t>(rounds) / 2];
}

#if TUTTI_HAVE_CUDA
/// What a call of the library on a stream asks CUDA beside its launch.
std::vector<TimedCall> calls_of_cuda(cudaStream_t stream) {
  static cudaEvent_t event = nullptr;
  if (event == nullptr && cudaEventCreateWithFlags(&event, cudaEventDisableTiming) != cudaSuccess)
    throw Error(ErrorCode::cuda, "cudaEventCreateWithFlags failed");
  return {{"cuda_get_device",
           [] {
             int device = 0;
             (void)cudaGetDevice(&device);
           }},
          {"cuda_capture_query",
           [stream] {
             cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
             (void)cudaStreamIsCapturing(stream, &status);
           }},
          {"cuda_event_record", [stream] { (void)cudaEventRecord(event, stream); }},
          {"cuda_event_query",
           [] {
             if (cudaEventQuery(event) == cudaErrorNotReady) (void)cudaGetLastError();
           }},
          {"cuda_event_wait", [stream] { (void)cudaStreamWaitEvent(stream, event, 0); }}};
}
#endif

}  // namespace

nlohmann::json run_device_launches(int rounds, int rank) {
  const Queue queue(rank);
  void* const stream = queue.stream().handle;
  std::vector<TimedCall> calls{
      {"items", [stream] { kernels::device::launch(stream, 1, Nothing()); }},
      {"warps", [stream] { kernels::device::launch_warps(stream, 1, 0, Nothing()); }},
      {"warps_with_scratch", [stream] { kernels::device::launch_warps(stream, 1, 1024, Nothing()); }}};
#if TUTTI_HAVE_CUDA
  for (TimedCall& call : calls_of_cuda(static_cast<cudaStream_t>(stream))) calls.push_back(std::move(call));
  calls.push_back({"items_and_event_record", [stream, items = calls.front().run] {
                     items();
                     static const std::vector<TimedCall> all = calls_of_cuda(static_cast<cudaStream_t>(stream));
                     all[2].run();
                   }});
#endif
  nlohmann::json result;
  for (const TimedCall& call : calls) result[std::string(call.name) + "_us"] = host_microseconds(queue, call, rounds);
  return result;
}

}  // namespace tutti::kernelbench
