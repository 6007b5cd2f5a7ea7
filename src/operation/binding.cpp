// SPDX-License-Identifier: BSD-3-Clause
#include "operation/binding.hpp"

#include <array>
#include <cstring>
#include <numeric>
#include <vector>

namespace tutti::detail {

std::shared_ptr<const void> BlockLists::copy() {
  const std::array all{&send_counts, &send_displs, &recv_counts, &recv_displs};
  std::size_t total = 0;
  for (const auto* list : all) total += list->size();
  if (total == 0) return nullptr;
  auto numbers = std::make_shared<std::vector<std::size_t>>(total);
  std::span<std::size_t> rest = *numbers;
  for (auto* list : all) {
    std::copy(list->begin(), list->end(), rest.begin());
    *list = rest.first(list->size());
    rest = rest.subspan(list->size());
  }
  return numbers;
}

std::size_t Binding::send_copy() {
  std::vector<std::size_t> places(send_counts.size());
  std::exclusive_scan(send_counts.begin(), send_counts.end(), places.begin(), std::size_t{0});
  send_displs = places;
  kept = copy();
  return places.empty() ? 0 : places.back() + send_counts.back();
}

// In place, the blocks lie where the call takes as much.
void Binding::copy_sent(std::size_t unit, std::byte* copy) const {
  const auto* from = static_cast<const std::byte*>(input);
  for (std::size_t r = 0; r < send_counts.size(); ++r)
    if (send_counts[r] > 0)
      std::memcpy(copy + send_displs[r] * unit, from + recv_displs[r] * unit, send_counts[r] * unit);
}

}  // namespace tutti::detail
