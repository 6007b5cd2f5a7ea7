// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

// The collectives: name; the root's part; the blocks that a rank gives, and that it takes; whose data are combined; the
// buffer that in_place stands for. A new collective begins with its row.
#define TUTTI_OPERATIONS(ROW)                           \
  ROW(barrier, none, none, none, none, none)            \
  ROW(bcast, gives, one, one, none, always)             \
  ROW(reduce, takes, one, one, all, send)               \
  ROW(allreduce, none, one, one, all, send)             \
  ROW(reduce_scatter_block, none, each, one, all, send) \
  ROW(reduce_scatter, none, counted, own, all, send)    \
  ROW(scan, none, one, one, up_to_own, send)            \
  ROW(exscan, none, one, one, before_own, send)         \
  ROW(gather, takes, one, each, none, send)             \
  ROW(gatherv, takes, own, counted, none, send)         \
  ROW(scatter, gives, each, one, none, recv)            \
  ROW(scatterv, gives, counted, own, none, recv)        \
  ROW(allgather, none, one, each, none, send)           \
  ROW(allgatherv, none, own, counted, none, send)       \
  ROW(alltoall, none, each, each, none, send)           \
  ROW(alltoallv, none, counted, counted, none, send)

// Those of neighbours.
#define TUTTI_NEIGHBOR_OPERATIONS(ROW) \
  ROW(neighbor_allgather)              \
  ROW(neighbor_allgatherv)             \
  ROW(neighbor_alltoall)               \
  ROW(neighbor_alltoallv)              \
  ROW(neighbor_alltoallw)

namespace tutti {

/// The collectives, for programs that make any of them.
enum class Operation : std::uint8_t {
#define TUTTI_OPERATION(name, ...) name,
  TUTTI_OPERATIONS(TUTTI_OPERATION)
#undef TUTTI_OPERATION
};

/// The only rank that gives, or the only one that takes.
enum class RootPart : std::uint8_t { none, gives, takes };

/// The blocks of one side of a call.
enum class BlockKind : std::uint8_t {
  none,
  one,      ///< one of the call's count
  own,      ///< one with a count of its own
  each,     ///< one of the call's count for each rank
  counted,  ///< one for each rank, with a count of its own
};

/// The ranks whose data are combined for a rank by a ReduceOp.
enum class Combined : std::uint8_t { none, all, up_to_own, before_own };

/// The argument that may be in_place: the other buffer then holds these data too. `always`: there is one buffer only.
enum class InPlaceSide : std::uint8_t { none, send, recv, always };

/// The properties of a collective, from which its buffers and flows of data follow.
struct OperationTraits {
  std::string_view name;
  RootPart root;
  BlockKind given;
  BlockKind taken;
  Combined combined;
  InPlaceSide in_place;

  /// One rank gives or takes everything.
  [[nodiscard]] constexpr bool has_root() const { return root != RootPart::none; }
  /// The ranks' contributions are combined by a ReduceOp.
  [[nodiscard]] constexpr bool combines() const { return combined != Combined::none; }
  /// A rank's result depends on the ranks before it only.
  [[nodiscard]] constexpr bool is_prefix() const { return combines() && combined != Combined::all; }
  /// Each taker has a block of its own; in the others all takers take the same.
  [[nodiscard]] constexpr bool is_split() const { return given == BlockKind::each || given == BlockKind::counted; }
  /// Each block has a count of its own.
  [[nodiscard]] constexpr bool has_counts() const { return given == BlockKind::counted || taken == BlockKind::counted; }
  /// A call gives the count of one block, of which its longer buffer has one for each rank.
  [[nodiscard]] constexpr bool has_equal_blocks() const { return given == BlockKind::each || taken == BlockKind::each; }
  /// Both buffers have one block.
  [[nodiscard]] constexpr bool has_one_vector() const { return given == BlockKind::one && taken == BlockKind::one; }
};

namespace detail {

inline constexpr auto operation_rows = std::to_array<OperationTraits>({
#define TUTTI_OPERATION(name, root, given, taken, combined, in_place) \
  {#name, RootPart::root, BlockKind::given, BlockKind::taken, Combined::combined, InPlaceSide::in_place},
    TUTTI_OPERATIONS(TUTTI_OPERATION)
#undef TUTTI_OPERATION
});

}  // namespace detail

/// All collectives, in the order of the enumeration.
inline constexpr auto all_operations = [] {
  std::array<Operation, detail::operation_rows.size()> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Operation>(i);
  return all;
}();

/// The row of a collective. Local.
[[nodiscard]] constexpr const OperationTraits& traits_of(Operation operation) {
  return detail::operation_rows[static_cast<std::size_t>(operation)];
}

/// The name of the function: "allreduce". Local.
[[nodiscard]] constexpr std::string_view operation_name(Operation operation) { return traits_of(operation).name; }

}  // namespace tutti
