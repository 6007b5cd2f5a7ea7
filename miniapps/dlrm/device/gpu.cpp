// SPDX-License-Identifier: BSD-3-Clause
#include "gpu.hpp"

#include <cstdlib>
#include <tutti/error.hpp>
#include <tutti/kernels/device.hpp>

#include "common/agree.hpp"

namespace dlrm {

namespace {

constexpr const char* remedy = "; or omit --device to train on the host";

void require(bool condition, const std::string& what) {
  if (!condition) {
    throw tutti::Error(tutti::ErrorCode::not_supported, "--device: " + what + remedy);
  }
}

int take_device(int rank_on_node) {
  require(tutti::device_count() > 0,
          tutti::why_no_device() + "; run it where nvidia-smi lists a GPU, with a library that has CUDA");
  require(tutti::kernels::device::is_available(),
          "this program has no kernels for GPUs; configure it where nvcc is found (CMAKE_CUDA_COMPILER)");
  const int device = rank_on_node % tutti::device_count();
  tutti::set_current_device(device);
  return device;
}

}  // namespace

Gpu::Gpu(const tutti::Communicator& comm) {
  const int rank_on_node = comm.split_by_node().rank();
  // CUDA may wait for the device when it loads a kernel of cuBLAS at its first launch, beside exchanges that wait for
  // other ranks.
  if (comm.size() > 1) (void)setenv("CUDA_MODULE_LOADING", "EAGER", 0);
  tutti::miniapps::run_agreed(comm, [&] {
    device_ = take_device(rank_on_node);
    stream_.emplace();
  });
}

void Gpu::wait() const {
  tutti::DeviceEvent event;
  event.record(call_stream());
  event.wait();
}

}  // namespace dlrm
