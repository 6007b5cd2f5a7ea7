// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/overlap.hpp"

#include <algorithm>
#include <vector>

namespace tutti::detail {
namespace {

struct AddressRange {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};

/// The blocks in the order of their addresses.
std::vector<AddressRange> ranges_of(const Touched& buffer, std::size_t unit) {
  const auto start =
      reinterpret_cast<std::uintptr_t>(buffer.address);  // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast)
  if (buffer.counts.empty()) return {{start, start + buffer.count * unit}};
  std::vector<AddressRange> ranges;
  ranges.reserve(buffer.counts.size());
  for (std::size_t r = 0; r < buffer.counts.size(); ++r) {
    const std::uintptr_t begin = start + buffer.displs[r] * unit;
    if (buffer.counts[r] > 0) ranges.push_back({begin, begin + buffer.counts[r] * unit});
  }
  std::sort(ranges.begin(), ranges.end(),
            [](const AddressRange& x, const AddressRange& y) { return x.begin < y.begin; });
  return ranges;
}

}  // namespace

bool blocks_overlap(const Touched& a, const Touched& b, std::size_t unit) {
  const std::vector<AddressRange> first = ranges_of(a, unit);
  const std::vector<AddressRange> second = ranges_of(b, unit);
  auto x = first.begin();
  auto y = second.begin();
  while (x != first.end() && y != second.end()) {
    if (x->begin < y->end && y->begin < x->end) return true;
    if (x->end < y->end)
      ++x;
    else
      ++y;
  }
  return false;
}

}  // namespace tutti::detail
