// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <limits>

#include "kernels/combine_pair_functors.hpp"
#include "kernels/exact_load.hpp"

namespace tutti::kernels::exact {
namespace {

/// Whether an element of a mask is not zero.
bool is_selected(const std::byte* mask, std::size_t unit, std::size_t i) noexcept {
  return std::any_of(mask + i * unit, mask + (i + 1) * unit, [](std::byte b) { return b != std::byte{0}; });
}

template <bool Max>
Float64Int64 located(const Terms& terms, std::int64_t first_index) noexcept {
  constexpr double worst = Max ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  const LocationFunctor<double, std::int64_t, Max> functor;
  auto best = functor.load({worst, std::numeric_limits<std::int64_t>::max()});
  Room values_room;
  Room mask_room;
  for (std::size_t first = 0; first < terms.count; first += run) {
    const std::size_t count = std::min(run, terms.count - first);
    const double* x = load(terms.values, first, count, values_room);
    const bool has_mask = terms.mask.buffer != nullptr;
    const std::byte* mask = has_mask ? elements_of(terms.mask, first, count, mask_room) : nullptr;
    for (std::size_t i = 0; i < count; ++i)
      if (!has_mask || is_selected(mask, terms.mask.buffer->type.size(), i))
        best = functor.join(best, functor.load({x[i], first_index + static_cast<std::int64_t>(first + i)}));
  }
  Float64Int64 result{};
  functor.store(&result, best);
  return result;
}

}  // namespace

Float64Int64 locate(const Terms& terms, bool is_for_largest, std::int64_t first_index) noexcept {
  return is_for_largest ? located<true>(terms, first_index) : located<false>(terms, first_index);
}

}  // namespace tutti::kernels::exact
