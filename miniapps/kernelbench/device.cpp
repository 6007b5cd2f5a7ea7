// SPDX-License-Identifier: BSD-3-Clause
#include "device.hpp"

#include <sched.h>

#include <algorithm>

#include <tutti/error.hpp>
#include <tutti/kernels/device.hpp>

namespace tutti::kernelbench {

namespace {

detail::device::Runtime& runtime() { return detail::device::required_runtime("--device"); }

}  // namespace

std::optional<std::string> reason_without_device() {
  if (detail::device::runtime() == nullptr) return "this build has no CUDA (TUTTI_ENABLE_CUDA=ON)";
  if (!kernels::device::is_available()) return "this build's Kokkos has no CUDA, so it has no device kernels";
  try {
    if (runtime().device_count() > 0) return std::nullopt;
  } catch (const Error&) {
    return "no GPU";
  }
  return "no GPU";
}

DeviceStream::DeviceStream(int rank) {
  runtime().set_current_device(rank % runtime().device_count());
  handle_ = runtime().create_stream();
}

DeviceStream::~DeviceStream() { runtime().destroy_stream(handle_); }

void DeviceStream::wait() const {
  while (!runtime().is_idle(handle_)) sched_yield();
}

void DeviceStream::upload_bytes(void* to, const void* from, std::size_t bytes) const {
  constexpr std::size_t piece = std::size_t{16} << 20;
  const miniapps::device::PinnedArray<std::byte> staged(std::min(piece, bytes));
  for (std::size_t at = 0; at < bytes; at += piece) {
    const std::size_t n = std::min(piece, bytes - at);
    std::memcpy(staged.data(), static_cast<const std::byte*>(from) + at, n);
    copy(static_cast<std::byte*>(to) + at, staged.data(), n);
    wait();
  }
}

void DeviceStream::clear(void* to, std::size_t bytes) const { runtime().fill_zero(to, bytes, handle_); }

void DeviceStream::copy(void* to, const void* from, std::size_t bytes) const {
  runtime().copy(to, from, bytes, handle_);
}

std::vector<double> DeviceStream::measure_queued(const std::vector<Candidate>& candidates, int rounds,
                                                 int launches) const {
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

double copy_bandwidth(const DeviceStream& stream, int rounds) {
  constexpr std::size_t bytes = std::size_t{1} << 30;
  const DeviceArray<std::byte> from(bytes);
  const DeviceArray<std::byte> to(bytes);
  stream.clear(from.data(), bytes);
  const auto seconds =
      stream.measure_queued({{"copy", [&](int) { stream.copy(to.data(), from.data(), bytes); }}}, rounds);
  return 2 * static_cast<double>(bytes) / seconds[0];
}

}  // namespace tutti::kernelbench
