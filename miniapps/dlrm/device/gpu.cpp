// SPDX-License-Identifier: BSD-3-Clause
#include "gpu.hpp"

#include <tutti/error.hpp>
#include <tutti/kernels/device.hpp>

#include "common/agree.hpp"
#include "device/give_way.hpp"
#include "device/pool.hpp"

namespace dlrm {

namespace {

namespace lower = tutti::detail::device;

constexpr const char* remedy = "; or leave out --device to train on the host";

void require(bool condition, const std::string& what) {
  if (!condition) {
    throw tutti::Error(tutti::ErrorCode::not_supported, "--device: " + what + remedy);
  }
}

int take_device(int rank_on_node) {
  lower::Runtime* runtime = lower::runtime();
  require(runtime != nullptr,
          "this program is built without CUDA; configure it with TUTTI_ENABLE_CUDA=ON and a Kokkos that has CUDA");
  require(tutti::kernels::device::is_available(),
          "this program has no kernels for GPUs; configure it with a Kokkos that has CUDA (Kokkos_ROOT)");
  int count = 0;
  std::string reason;
  try {
    count = runtime->device_count();
  } catch (const tutti::Error& error) {
    reason = std::string(" (") + error.what() + ")";
  }
  require(count > 0, "no GPU was found" + reason + "; run it where nvidia-smi lists one");
  const int device = rank_on_node % count;
  runtime->set_current_device(device);
  return device;
}

}  // namespace

Gpu::Gpu(const tutti::Communicator& comm) {
  const int rank_on_node = comm.split_by_node().rank();
  tutti::miniapps::run_agreed(comm, [&] {
    device_ = take_device(rank_on_node);
    stream_ = lower::runtime()->create_stream();
  });
}

Gpu::~Gpu() {
  if (stream_ != nullptr) {
    lower::runtime()->destroy_stream(stream_);
  }
}

std::string Gpu::text() const { return lower::runtime()->device_name(device_); }

void wait_for(lower::EventHandle event) {
  while (!lower::runtime()->is_complete(event)) lower::give_way();
}

void Gpu::wait() const {
  lower::Event event;
  event.record(device_, stream_);
  wait_for(event.handle());
}

}  // namespace dlrm
