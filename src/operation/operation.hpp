// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <tutti/operation.hpp>

namespace tutti {

/// A part of a vector, in elements.
struct Block {
  std::size_t offset = 0;
  std::size_t count = 0;
};

/// Operations with one property, in one word: to ask costs a shift.
class OperationSet {
 public:
  template <typename Has>
  explicit consteval OperationSet(const Has& has) {
    for (const Operation operation : all_operations)
      if (std::invoke(has, traits_of(operation))) bits_ |= 1U << static_cast<unsigned>(operation);
  }
  [[nodiscard]] constexpr bool has(Operation operation) const {
    return (bits_ >> static_cast<unsigned>(operation) & 1U) != 0;
  }

 private:
  std::uint32_t bits_ = 0;
};

/// Whether the row of an operation has the property.
template <auto property>
[[nodiscard]] constexpr bool is_one_with(Operation operation) {
  constexpr OperationSet all(property);
  return all.has(operation);
}

[[nodiscard]] constexpr bool has_root(Operation operation) {
  return is_one_with<&OperationTraits::has_root>(operation);
}
[[nodiscard]] constexpr bool combines(Operation operation) {
  return is_one_with<&OperationTraits::combines>(operation);
}
/// The same for so many ranks: among two, an exclusive scan only hands the first one's data to the second.
[[nodiscard]] constexpr bool combines(Operation operation, int size) {
  return combines(operation) && (traits_of(operation).combined != Combined::before_own || size > 2);
}
[[nodiscard]] constexpr bool is_prefix(Operation operation) {
  return is_one_with<&OperationTraits::is_prefix>(operation);
}
[[nodiscard]] constexpr bool is_split(Operation operation) {
  return is_one_with<&OperationTraits::is_split>(operation);
}
[[nodiscard]] constexpr bool has_counts(Operation operation) {
  return is_one_with<&OperationTraits::has_counts>(operation);
}
[[nodiscard]] constexpr bool has_equal_blocks(Operation operation) {
  return is_one_with<&OperationTraits::has_equal_blocks>(operation);
}

/// Whether no rank can end before all ranks have come, if there are data: each needs all the others'.
[[nodiscard]] constexpr bool joins_all(Operation operation) {
  constexpr OperationSet all(
      [](const OperationTraits& row) { return !row.has_root() && !row.is_prefix() && !row.has_counts(); });
  return all.has(operation);
}
/// Whether a rank may know only its own counts or displacements.
[[nodiscard]] constexpr bool is_varying(Operation operation) {
  constexpr OperationSet all([](const OperationTraits& row) { return row.has_counts() && !row.combines(); });
  return all.has(operation);
}
/// Whether all ranks know all these counts: a call's size is then their sum. In the others no rank but the root does.
[[nodiscard]] constexpr bool has_shared_counts(Operation operation) {
  constexpr OperationSet all(
      [](const OperationTraits& row) { return row.has_counts() && !row.has_root() && row.given != row.taken; });
  return all.has(operation);
}
[[nodiscard]] constexpr bool has_hidden_size(Operation operation) {
  return has_counts(operation) && !has_shared_counts(operation);
}

/// The operation whose blocks are equal, for one in which each rank knows its own.
[[nodiscard]] constexpr Operation with_equal_blocks(Operation varying) {
  const auto equal = [](BlockKind kind) {
    return kind == BlockKind::counted ? BlockKind::each : kind == BlockKind::own ? BlockKind::one : kind;
  };
  const OperationTraits& row = traits_of(varying);
  for (const Operation operation : all_operations) {
    const OperationTraits& other = traits_of(operation);
    if (other.root == row.root && other.given == equal(row.given) && other.taken == equal(row.taken) &&
        other.combined == row.combined)
      return operation;
  }
  return varying;
}

/// Whether a rank has a buffer that it gives from. Where there is one buffer only, that is its output.
[[nodiscard]] constexpr bool has_input(Operation operation, bool is_root) {
  const OperationTraits& row = traits_of(operation);
  return row.given != BlockKind::none && row.in_place != InPlaceSide::always &&
         (row.root != RootPart::gives || is_root);
}
/// Whether a rank has a buffer that it takes into, or gives from where there is one only.
[[nodiscard]] constexpr bool has_output(Operation operation, bool is_root) {
  const OperationTraits& row = traits_of(operation);
  return row.taken != BlockKind::none && (row.root != RootPart::takes || is_root);
}
/// Whether a rank keeps a block of its own data, which it gives to itself.
[[nodiscard]] constexpr bool has_own_block(Operation operation, bool is_root) {
  const OperationTraits& row = traits_of(operation);
  return has_input(operation, is_root) && has_output(operation, is_root) && row.combined != Combined::before_own;
}

}  // namespace tutti
