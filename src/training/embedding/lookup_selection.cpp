// SPDX-License-Identifier: BSD-3-Clause
#include "training/embedding/lookup_selection.hpp"

#include <algorithm>

#include "training/embedding/row_places.hpp"

namespace tutti::detail {

namespace {

template <typename Index, bool Weighted, bool is_block>
void select_by(const RowPlaces<is_block>& places, const kernels::TableLookups& from, const LookupSelection& s,
               OwnedLookups& to) {
  const auto* indices = static_cast<const Index*>(from.indices);
  auto* kept = reinterpret_cast<Index*>(to.indices.data());
  const bool clamps = s.policy == kernels::IndexPolicy::clamp;
  std::size_t n = to.count;
  for (std::size_t b = s.first_bag; b < s.first_bag + s.bags; ++b) {
    const std::size_t before = n;
    for (std::int64_t p = from.offsets[b]; p < from.offsets[b + 1]; ++p) {
      auto index = static_cast<std::int64_t>(indices[p]);
      if (clamps) index = std::clamp<std::int64_t>(index, 0, s.rows - 1);
      const std::uint64_t place = places.of(index);
      kept[n] = static_cast<Index>(place);
      if constexpr (Weighted) to.weights[n] = from.weights != nullptr ? from.weights[p] : 1.0F;
      n += place < places.size() ? 1 : 0;
    }
    to.lengths.push_back(static_cast<std::int32_t>(n - before));
  }
  to.count = n;
}

template <typename Index, bool Weighted>
void select(const kernels::TableLookups& from, const LookupSelection& s, OwnedLookups& to) {
  s.kept.step == 1 ? select_by<Index, Weighted>(RowPlaces<true>(s.kept), from, s, to)
                   : select_by<Index, Weighted>(RowPlaces<false>(s.kept), from, s, to);
}

}  // namespace

void select_lookups(const kernels::TableLookups& from, kernels::IndexType type, const LookupSelection& s,
                    OwnedLookups& to) {
  if (s.bags == 0) return;
  // Room for one more than can be selected: an index that is not is written too, and then overwritten.
  const std::size_t room =
      to.count + static_cast<std::size_t>(from.offsets[s.first_bag + s.bags] - from.offsets[s.first_bag]) + 1;
  if (to.indices.size() < room * index_bytes(type)) to.indices.resize(room * index_bytes(type));
  if (s.weighted && to.weights.size() < room) to.weights.resize(room);
  if (type == kernels::IndexType::int32) {
    s.weighted ? select<std::int32_t, true>(from, s, to) : select<std::int32_t, false>(from, s, to);
  } else {
    s.weighted ? select<std::int64_t, true>(from, s, to) : select<std::int64_t, false>(from, s, to);
  }
}

void OwnedLookups::set_offsets() {
  offsets.resize(lengths.size() + 1);
  offsets[0] = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i) offsets[i + 1] = offsets[i] + lengths[i];
}

}  // namespace tutti::detail
