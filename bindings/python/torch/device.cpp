// SPDX-License-Identifier: BSD-3-Clause
// Calls on device memory, in the order of PyTorch's streams.
#include <c10/core/DeviceGuard.h>
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <tutti/device.hpp>

#include "backend.hpp"

namespace tutti::process_group {
namespace {

c10::Stream current_stream(const at::Device& device) {
  return c10::impl::VirtualGuardImpl(device.type()).getStream(device);
}

/// A call whose end is an event of a stream.
class DeviceWork final : public Work {
 public:
  DeviceWork(int rank, C10dCall call, std::uint64_t number, const at::Device& device)
      : Work(rank, std::move(call), number), device_(device), end_(device.type()) {}

  /// Marks the end of the call, which runs on `stream`.
  void end(const c10::Stream& stream, std::exception_ptr error) {
    if (!error) end_.record(stream);
    complete(std::move(error));
  }
  bool isCompleted() override { return c10d::Work::isCompleted() && (!isSuccess() || end_.query()); }
  void synchronize() override { end_.block(current_stream(device_)); }
  bool wait(std::chrono::milliseconds /*timeout*/) override {
    rethrow();
    synchronize();
    return true;
  }

 private:
  at::Device device_;
  c10::Event end_;
};

}  // namespace

Works Backend::make_on_device(C10dCall call, const at::Device& device, const Body& body) {
  const std::string why_not = why_no_device();
  TORCH_CHECK(device.is_cuda() && why_not.empty(), "tutti: the tensor is on ", device, ", but ",
              device.is_cuda() ? why_not : "the process group takes cpu and cuda tensors");
  const c10::DeviceGuard on_device(device);
  const c10::impl::VirtualGuardImpl guard(device.type());
  const c10::Stream now = guard.getStream(device);
  const c10::Stream stream = call.async ? guard.getStreamFromGlobalPool(device, true) : now;
  c10::Event before(device.type());
  before.record(now);
  before.block(stream);
  tutti::Options options;
  options.memory = MemoryKind::device;
  options.timeout = call.timeout;
  options.stream = Stream(StreamKind::cuda, stream.native_handle());
  for (const Tensors& tensors : {call.inputs, call.outputs})
    for (const at::Tensor& tensor : tensors) tensor.record_stream(stream);
  auto work = c10::make_intrusive<DeviceWork>(rank_, std::move(call), calls_, device);
  const c10::StreamGuard on_stream(stream);
  std::exception_ptr error;
  try {
    const at::NoGradGuard no_grad;
    body(*comm_, options);
  } catch (...) {
    error = translate(std::current_exception());
  }
  work->end(stream, std::move(error));
  return work;
}

}  // namespace tutti::process_group
