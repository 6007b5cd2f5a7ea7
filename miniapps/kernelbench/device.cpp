// SPDX-License-Identifier: BSD-3-Clause
#include "device.hpp"

#include <algorithm>
#include <tutti/kernels/device.hpp>

namespace tutti::kernelbench {

namespace {

int take_device(int rank) {
  const int device = rank % device_count();
  set_current_device(device);
  return device;
}

}  // namespace

std::optional<std::string> reason_without_device() {
  if (const std::string why = why_no_device(); !why.empty()) return why;
  if (!kernels::device::is_available())
    return "this library has no device kernels: it was built without nvcc and without a Kokkos that has CUDA";
  return std::nullopt;
}

Queue::Queue(int rank) : device_(take_device(rank)) {}

void Queue::upload_bytes(void* to, const void* from, std::size_t bytes) const {
  constexpr std::size_t most = std::size_t{16} << 20;
  const miniapps::device::PinnedArray<std::byte> staged(std::min(most, bytes));
  for (std::size_t at = 0; at < bytes; at += most) {
    const std::size_t n = std::min(most, bytes - at);
    std::memcpy(staged.data(), static_cast<const std::byte*>(from) + at, n);
    copy(static_cast<std::byte*>(to) + at, staged.data(), n);
    wait();
  }
}

std::vector<double> Queue::measure_queued(const std::vector<Candidate>& candidates, int rounds, int launches) const {
  std::vector<Candidate> queued;
  for (const Candidate& candidate : candidates) {
    queued.push_back({candidate.name, [this, launches, &candidate](int round) {
                        for (int k = 0; k < launches; ++k) candidate.run(round * launches + k);
                        wait();
                      }});
  }
  auto seconds = measure(queued, rounds);
  for (double& each : seconds) each /= launches;
  return seconds;
}

double copy_bandwidth(const Queue& queue, int rounds) {
  constexpr std::size_t bytes = std::size_t{1} << 30;
  const DeviceArray<std::byte> from(bytes);
  const DeviceArray<std::byte> to(bytes);
  queue.clear(from.data(), bytes);
  const auto seconds =
      queue.measure_queued({{"copy", [&](int) { queue.copy(to.data(), from.data(), bytes); }}}, rounds);
  return 2 * static_cast<double>(bytes) / seconds[0];
}

}  // namespace tutti::kernelbench
