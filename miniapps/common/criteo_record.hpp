// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

namespace tutti::miniapps {

inline constexpr std::size_t criteo_dense = 13;
inline constexpr std::size_t criteo_tables = 26;

/// One Criteo sample in the reference's binary format: 40 little-endian int32.
struct CriteoRecord {
  std::int32_t label;
  std::array<std::int32_t, criteo_dense> dense;  ///< before the logarithm, never negative
  std::array<std::int32_t, criteo_tables> categories;
};
static_assert(sizeof(CriteoRecord) == 160);

}  // namespace tutti::miniapps
