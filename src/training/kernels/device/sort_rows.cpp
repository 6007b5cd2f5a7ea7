// SPDX-License-Identifier: BSD-3-Clause
#include "training/kernels/device/sort_rows.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include <tutti/kernels/launch.hpp>

// hipCUB has CUB's interface; a HIP without it, such as Debian's, has no sort.
#if defined(__HIPCC__) && __has_include(<hipcub/hipcub.hpp>)
#include <hipcub/hipcub.hpp>
#define TUTTI_CUB hipcub
#elif defined(__CUDACC__) && !defined(__HIPCC__)
#include <cub/device/device_radix_sort.cuh>
#define TUTTI_CUB cub
#endif
#if defined(TUTTI_CUB)
#include "device/vendor.hpp"
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

#if defined(TUTTI_CUB)
int sort_on_device(const SortPlaces& places, unsigned bits, void* scratch, std::size_t& scratch_bytes,
                   StreamHandle stream) {
  TUTTI_CUB::DoubleBuffer<std::uint32_t> keys(places.keys[0], places.keys[1]);
  TUTTI_CUB::DoubleBuffer<std::uint32_t> values(places.values[0], places.values[1]);
  tutti::detail::device::check(
      TUTTI_CUB::DeviceRadixSort::SortPairs(scratch, scratch_bytes, keys, values, places.count, 0,
                                            static_cast<int>(bits), static_cast<TUTTI_GPU(Stream_t)>(stream)),
      "sorting rows on the device");
  return keys.selector;
}

/// CUB sorts few items by one kernel and many by others: sorts some of both, so that the code of all is there.
void load_sorting(StreamHandle stream) {
  constexpr std::size_t few = 16;
  constexpr std::size_t many = std::size_t{1} << 17U;
  constexpr unsigned bits = 32;
  auto& runtime = *tutti::detail::device::runtime();
  std::size_t bytes = 0;
  (void)sort_on_device({{}, {}, many}, bits, nullptr, bytes, stream);
  constexpr std::size_t places_bytes = 4 * many * sizeof(std::uint32_t);
  auto* const room = static_cast<std::uint32_t*>(runtime.allocate_ordered(places_bytes + bytes, stream));
  if (room == nullptr) return;
  runtime.fill_zero(room, places_bytes, stream);
  for (const std::size_t count : {few, many}) {
    const SortPlaces places{{room, room + many}, {room + 2 * many, room + 3 * many}, count};
    (void)sort_on_device(places, bits, room + 4 * many, bytes, stream);
  }
  runtime.release_ordered(room, stream);
}
#endif

}  // namespace

std::size_t sort_scratch_bytes([[maybe_unused]] const SortPlaces& places, [[maybe_unused]] unsigned bits) {
  std::size_t bytes = 0;
#if defined(TUTTI_CUB)
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
#if defined(TUTTI_CUB)
  static Kernel sorting;
  sorting.load(stream, [&] { load_sorting(stream); });
  return sort_on_device(places, bits, scratch, scratch_bytes, stream);
#else
  throw_without_kernels();
#endif
}

}  // namespace tutti::kernels::device
