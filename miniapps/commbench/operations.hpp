// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tutti/operation.hpp>

namespace tutti::commbench {

using tutti::all_operations;
using tutti::Operation;

[[nodiscard]] constexpr bool reduces(Operation operation) { return traits_of(operation).combined != Combined::none; }

/// One vector, not one block a rank.
[[nodiscard]] constexpr bool has_one_vector(Operation operation) {
  const OperationTraits& row = traits_of(operation);
  return row.given == BlockKind::one && row.taken == BlockKind::one;
}

/// Whether each block has a count of its own.
[[nodiscard]] constexpr bool has_counts(Operation operation) {
  const OperationTraits& row = traits_of(operation);
  return row.given == BlockKind::counted || row.taken == BlockKind::counted;
}

}  // namespace tutti::commbench
