// SPDX-License-Identifier: BSD-3-Clause
#include "training/embedding/table_block.hpp"

#include <algorithm>
#include <mutex>

#include "device/give_way.hpp"
#include "device/runtime.hpp"
#include "device/traffic.hpp"

namespace tutti::detail {

namespace {

/// To ask CUDA for memory, or to return it, may wait for the device: a deadlock while NCCL works there.
template <typename Action>
auto between_traffic(int device, const Action& action) {
  auto& traffic = device::Traffic::of(device);
  for (;;) {
    {
      const std::lock_guard no_launch(traffic.launch_mutex());
      if (traffic.is_idle()) return action();
    }
    device::give_way();
  }
}

}  // namespace

TableBlock::TableBlock(std::size_t bytes, MemoryKind kind) : bytes_(bytes) {
  if (kind == MemoryKind::host) {
    host_ = kernels::allocate_table(bytes);
    data_ = host_.get();
    return;
  }
  auto& runtime = device::required_runtime("tables on a device");
  device_ = runtime.current_device();
  data_ = between_traffic(device_, [&] {
    return static_cast<std::byte*>(runtime.allocate(MemoryKind::device, std::max<std::size_t>(bytes, 1)));
  });
}

TableBlock::~TableBlock() {
  if (data_ == nullptr || device_ < 0) return;
  between_traffic(device_, [&] { device::runtime()->release(MemoryKind::device, data_); });
}

}  // namespace tutti::detail
