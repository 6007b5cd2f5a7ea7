// SPDX-License-Identifier: BSD-3-Clause
#include "backends/staged/work_stream.hpp"

#include "communicator/comm_state.hpp"
#include "communicator/progress.hpp"
#include "device/kept.hpp"

namespace tutti::detail {
namespace {

device::StreamHandle shared_stream(int device) {
  static auto* all = new device::Kept<int, device::StreamHandle>;
  return all->of(device, [&] {
    const device::Guard guard(device);
    return new device::StreamHandle(device::required_runtime("device memory").create_stream());
  });
}

}  // namespace

WorkStream work_stream(const CommState& comm, std::initializer_list<const void*> addresses) {
  if (comm.device) return {comm.device->device, comm.device->stream};
  device::Runtime& runtime = device::required_runtime("device memory");
  int device = -1;
  for (const void* address : addresses) {
    if (address == nullptr || device >= 0) continue;
    device = runtime.inspect(address).device;
  }
  if (device < 0) device = runtime.current_device();
  return {device, shared_stream(device)};
}

void follow(const WorkStream& work, const Stream& caller, device::Event& event) {
  if (caller.kind != StreamKind::cuda || caller.handle == work.stream) return;
  event.record(work.device, caller.handle);
  device::runtime()->wait_event(work.stream, event.handle());
}

void precede(const Stream& caller, const device::Event& event) {
  if (caller.kind == StreamKind::cuda) device::runtime()->wait_event(caller.handle, event.handle());
}

bool returns_at_once(const Stream& caller, int device) {
  return caller.kind == StreamKind::cuda && ProgressEngine::instance().has_thread() &&
         device::runtime()->has_stream_flags(device);
}

bool leaves_at_once(const Plan& plan, const Stream& caller, int device) {
  return plan.backend == Backend::staged && plan.signature.kind == CallKind::blocking &&
         plan.signature.op != ReduceKind::user && returns_at_once(caller, device);
}

}  // namespace tutti::detail
