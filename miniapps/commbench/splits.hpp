// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "counts.hpp"

namespace tutti::commbench {

/// How the elements of a call with counts are divided into blocks, one for each rank. Equal on all ranks.
struct Splits {
  enum class Kind : std::uint8_t {
    even,    ///< all alike
    uneven,  ///< in turn half and one and a half times as long; from a to b as long as from b to a
    random,  ///< at random, for each giver of an alltoallv anew
    zipf,    ///< by Zipf's law with exponent 1: the block of rank k is 1 / (k + 1) as long as that of rank 0
    one,     ///< all to the rank behind the root
    listed,  ///< in proportion to `parts`
  };
  Kind kind = Kind::even;
  std::uint64_t seed = 1;              ///< of random ones
  std::vector<std::uint64_t> parts{};  ///< of listed ones: one for each rank

  /// From a to b goes as much as from b to a.
  [[nodiscard]] bool are_symmetric() const { return kind == Kind::even || kind == Kind::uneven; }
};

/// Of a giver of elements to so many ranks: the elements of each rank's block. Those of even and uneven blocks are
/// multiples of a rounded share; those of all others add up to `elements`.
[[nodiscard]] Counts divide(const Splits& splits, std::size_t elements, int ranks, int giver, int root);

/// "even", "uneven", "random", "random:SEED", "zipf", "one", or parts: "3,1,0,4". Throws std::invalid_argument that
/// names text and remedy.
[[nodiscard]] Splits parse_splits(const std::string& text);
/// As parse_splits reads it.
[[nodiscard]] std::string splits_text(const Splits& splits);

}  // namespace tutti::commbench
