// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/device/sort_rows.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "kernels/device/launch.hpp"

#if defined(__CUDACC__)
#include <cub/device/device_radix_sort.cuh>
#endif

namespace tutti::kernels::device {

namespace {

void sort_on_host(const SortPlaces& places) {
  std::vector<std::size_t> order(places.count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return places.keys[0][a] < places.keys[0][b]; });
  for (std::size_t i = 0; i < places.count; ++i) {
    places.keys[1][i] = places.keys[0][order[i]];
    places.values[1][i] = places.values[0][order[i]];
  }
}

#if defined(__CUDACC__)
int sort_on_device(const SortPlaces& places, unsigned bits, void* scratch, std::size_t& scratch_bytes,
                   StreamHandle stream) {
  cub::DoubleBuffer<std::uint32_t> keys(places.keys[0], places.keys[1]);
  cub::DoubleBuffer<std::uint32_t> values(places.values[0], places.values[1]);
  const cudaError_t error = cub::DeviceRadixSort::SortPairs(scratch, scratch_bytes, keys, values, places.count, 0,
                                                            static_cast<int>(bits), static_cast<cudaStream_t>(stream));
  if (error != cudaSuccess) {
    throw Error(ErrorCode::cuda, std::string("sorting rows on the device: ") + cudaGetErrorString(error));
  }
  return keys.selector;
}
#endif

}  // namespace

std::size_t sort_scratch_bytes([[maybe_unused]] const SortPlaces& places, [[maybe_unused]] unsigned bits) {
  std::size_t bytes = 0;
#if defined(__CUDACC__)
  if (!runs_on_host()) static_cast<void>(sort_on_device(places, bits, nullptr, bytes, nullptr));
#endif
  return bytes;
}

int sort_rows(const SortPlaces& places, [[maybe_unused]] unsigned bits, [[maybe_unused]] void* scratch,
              [[maybe_unused]] std::size_t scratch_bytes, StreamHandle stream) {
  if (runs_on_host()) {
    tutti::detail::device::runtime()->run_host(stream, [places] { sort_on_host(places); });
    return 1;
  }
#if defined(__CUDACC__)
  static Kernel sorting(&sorting);
  int sorted = 0;
  const auto sort = [&] { sorted = sort_on_device(places, bits, scratch, scratch_bytes, stream); };
  if (!sorting.launch_first(stream, sort)) sort();
  return sorted;
#else
  throw_without_kernels();
#endif
}

}  // namespace tutti::kernels::device
