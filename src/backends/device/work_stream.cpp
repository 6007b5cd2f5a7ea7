// SPDX-License-Identifier: BSD-3-Clause
#include "backends/device/work_stream.hpp"

#include <mutex>
#include <utility>
#include <vector>

#include "call/context.hpp"
#include "call/progress.hpp"
#include "device/kept.hpp"

namespace tutti::detail {

struct StreamLease::Pool {
  std::mutex mutex;
  std::vector<device::StreamHandle> unused;
};

StreamLease::StreamLease(int device) {
  static auto* all = new device::Kept<int, Pool>;
  pool_ = &all->of(device, [] { return new Pool; });
  {
    const std::lock_guard lock(pool_->mutex);
    if (!pool_->unused.empty()) {
      stream_ = pool_->unused.back();
      pool_->unused.pop_back();
      return;
    }
  }
  const device::Guard guard(device);
  stream_ = device::required_runtime("device memory").create_stream();
}

StreamLease::~StreamLease() {
  if (is_kept_) return;
  const std::lock_guard lock(pool_->mutex);
  try {
    pool_->unused.push_back(stream_);
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): without memory for the list it is lost
  }
}

namespace {

WorkStream leased(int device) {
  auto lease = std::make_shared<StreamLease>(device);
  return {device, lease->stream(), std::move(lease)};
}

}  // namespace

WorkStream work_stream(const Context& comm, std::initializer_list<const void*> addresses) {
  if (comm.device) return leased(comm.device->device);
  device::Runtime& runtime = device::required_runtime("device memory");
  int device = -1;
  for (const void* address : addresses) {
    if (address == nullptr || device >= 0) continue;
    device = runtime.inspect(address).device;
  }
  if (device < 0) device = runtime.current_device();
  return leased(device);
}

WorkStream stream_beside(const WorkStream& other) { return leased(other.device); }

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

}  // namespace tutti::detail
