// SPDX-License-Identifier: BSD-3-Clause
#include "backends/device/kernel_streams.hpp"

#include <cstdint>
#include <mutex>
#include <set>
#include <tuple>

#include "device/at_rest.hpp"
#include "kernels/device/combine.hpp"

namespace tutti::detail {

using device::StreamHandle;

namespace {

struct Prepared {
  std::mutex mutex;
  std::set<std::tuple<std::uint64_t, int, StreamHandle>> streams;
};

Prepared& prepared() {
  static auto* only = new Prepared;
  return *only;
}

}  // namespace

bool has_kernels_prepared(int device, StreamHandle stream) {
  Prepared& all = prepared();
  const std::lock_guard lock(all.mutex);
  return all.streams.contains({device::runtime_generation(), device, stream});
}

void prepare_kernels(int device, StreamHandle stream) {
  if (has_kernels_prepared(device, stream)) return;
  device::at_rest(device, [stream] { kernels::device::prepare_stream(stream); });
  Prepared& all = prepared();
  const std::lock_guard lock(all.mutex);
  all.streams.emplace(device::runtime_generation(), device, stream);
}

}  // namespace tutti::detail
