// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/device_side.hpp"

#include "communicator/comm_state.hpp"

namespace tutti::detail {

DeviceSide::~DeviceSide() {
  nccl.reset();
  if (device::Runtime* runtime = device::runtime(); runtime != nullptr && stream != nullptr)
    runtime->destroy_stream(stream);
}

void prepare_device(CommState& comm, const void* /*address*/) {
  (void)device::required_runtime("prepare_device");
  comm.check_usable();
}

}  // namespace tutti::detail
