// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "planner/table.hpp"

namespace tutti::detail::tuning {

/// One kind of call at one size to measure.
struct Target {
  Operation operation = Operation::barrier;
  CallKind kind = CallKind::blocking;
  Datatype type{};
  std::size_t bytes = 0;           ///< as Cell::bytes
  std::optional<ReduceKind> op{};  ///< empty: combination_for(type)
  int root = 0;
};

/// The calls to measure. Sizes are those in `sizes`, or else `smallest` and its multiples by powers of `factor`.
struct Scope {
  std::vector<Operation> operations{};
  std::vector<CallKind> kinds{};
  std::vector<Datatype> types{};     ///< for the operations that combine
  std::vector<std::size_t> sizes{};  ///< in bytes
  std::size_t smallest = 4;
  std::size_t largest = std::size_t{64} << 20U;  ///< bytes of the whole vector or of all blocks
  std::size_t factor = 4;
};

/// The targets of a scope, the most important first: every other size of all operations, then the sizes between. Each
/// pass takes blocking calls first, then nonblocking, then persistent ones. Equal on all ranks.
[[nodiscard]] std::vector<Target> targets_of(const Scope& scope, int ranks);

/// The sizes of a scope for calls that move `blocks` blocks of a size.
[[nodiscard]] std::vector<std::size_t> sizes_of(const Scope& scope, std::size_t blocks);

/// All operations, ordered by the time that programs spend in them.
[[nodiscard]] std::vector<Operation> operations_by_importance();

/// A call as the planner sees it.
[[nodiscard]] Signature signature_of(const Target& target);
/// A target's place in a table, without seconds.
[[nodiscard]] Cell place_of(const Target& target);
/// "allreduce float32 blocking 4096 B".
[[nodiscard]] std::string describe(const Target& target);

/// The bytes of a target's longer buffer.
[[nodiscard]] std::size_t buffer_bytes(const Target& target, int ranks);

/// A reduction that is defined for a type: sum, else minloc, else lor.
[[nodiscard]] ReduceKind combination_for(Datatype type);
/// The reduction of a target.
[[nodiscard]] inline ReduceKind op_of(const Target& target) { return target.op.value_or(combination_for(target.type)); }

}  // namespace tutti::detail::tuning
