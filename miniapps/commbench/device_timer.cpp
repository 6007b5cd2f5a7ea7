// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/detail/launch/kernel.hpp>
#include <tutti/error.hpp>

#include "device_timer.hpp"

#if TUTTI_HAVE_CUDA
#include <cuda_runtime_api.h>
#endif

namespace tutti::commbench {
namespace {

#if TUTTI_HAVE_CUDA

void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) throw Error(ErrorCode::cuda, std::string(what) + ": " + cudaGetErrorString(status));
}

class Mark {
 public:
  Mark() { check(cudaEventCreate(&event_), "cudaEventCreate"); }
  ~Mark() { (void)cudaEventDestroy(event_); }
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;
  void record(const DeviceStream& stream) {
    check(cudaEventRecord(event_, static_cast<cudaStream_t>(stream.handle())), "cudaEventRecord");
  }
  [[nodiscard]] double seconds_since(const Mark& before) const {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, before.event_, event_), "cudaEventElapsedTime");
    return static_cast<double>(milliseconds) * 1e-3;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

#else

class Mark {
 public:
  void record(const DeviceStream& /*stream*/) { throw Error(ErrorCode::not_built, "events need TUTTI_ENABLE_CUDA"); }
  [[nodiscard]] double seconds_since(const Mark& /*before*/) const { return 0; }
};

#endif

}  // namespace

/// Marks of CUDA, or of the host's clock.
struct DeviceTimer::State : std::enable_shared_from_this<State> {
  void record(const DeviceStream& stream, int place) {
    if (marks[place]) return marks[place]->record(stream);
    static kernels::device::Kernel mark;
    kernels::device::run_on_host(stream.handle(), mark,
                                 [self = shared_from_this(), place] { self->times[place] = now(); });
  }

  std::unique_ptr<Mark> marks[2];
  double times[2] = {};
};

DeviceTimer::DeviceTimer() : state_(std::make_shared<State>()) {
  if (kernels::device::runs_on_host()) return;
  for (auto& mark : state_->marks) mark = std::make_unique<Mark>();
}

DeviceTimer::~DeviceTimer() = default;

void DeviceTimer::begin(const DeviceStream& stream) { state_->record(stream, 0); }

void DeviceTimer::end(const DeviceStream& stream) { state_->record(stream, 1); }

double DeviceTimer::seconds() const {
  return state_->marks[0] ? state_->marks[1]->seconds_since(*state_->marks[0]) : state_->times[1] - state_->times[0];
}

}  // namespace tutti::commbench
