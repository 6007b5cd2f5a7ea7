// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "report.hpp"
#include "types.hpp"
#include "watch/signature.hpp"

namespace tutti::preload {

/// The ranks of the communicator of a call.
struct Ranks {
  int rank = 0;
  int size = 0;
};

/// Bytes of the program, block by block; none where a block's place is not contiguous.
using Spans = std::vector<std::span<const std::byte>>;

/// The ranks whose calls must be compared. Where a call is equal on all ranks, it is enough that each is equal to the
/// next.
enum class Compared : std::uint8_t { neighbors, with_root, all };

/// What a collective says that must fit on all ranks.
struct Description {
  int root = -1;
  MPI_Op op = MPI_OP_NULL;
  MPI_Datatype type = MPI_DATATYPE_NULL;  ///< that the text names
  bool is_refused = false;                ///< the MPI has an error for an argument
  Compared compared = Compared::neighbors;
  Signature all{};  ///< equal on all ranks
  /// What this rank gives a rank, and expects of it. Empty: nothing is compared.
  std::function<Signature(int)> given{};
  std::function<Signature(int)> expected{};
  Spans sent{};      ///< that the program may not change before the call has ended
  Spans received{};  ///< that it may not use before; none in place
};

namespace detail {

inline Signature take_signature(Description& call, MPI_Datatype type, MPI_Count count) {
  if (count < 0 || type_beside(type, count) == nullptr) {
    call.is_refused = true;
    return {};
  }
  if (count > 0) call.type = type;
  return signature_of(type, static_cast<std::uint64_t>(count));
}

inline Spans spans_of(const void* data, MPI_Datatype type, MPI_Count count) {
  const Type* facts = type_beside(type, count);
  if (facts == nullptr || !facts->is_dense || count <= 0 || facts->size == 0) return {};
  if (data == nullptr || data == MPI_IN_PLACE || data == MPI_BOTTOM) return {};
  return {{static_cast<const std::byte*>(data), facts->size * static_cast<std::size_t>(count)}};
}

/// Blocks of one type, whose displacements are in elements, or of one for each, where they are in bytes.
template <typename N, typename D, typename Types>
Spans spans_of(const void* data, Types types, const N* counts, const D* displs, int size) {
  Spans all;
  for (int r = 0; r < size && data != MPI_IN_PLACE; ++r) {
    constexpr bool is_one_type = std::is_same_v<Types, MPI_Datatype>;
    MPI_Datatype type{};
    if constexpr (is_one_type)
      type = types;
    else
      type = types[r];
    const Type* facts = type_beside(type, counts[r]);
    if (facts == nullptr || !facts->is_dense) return {};
    const std::ptrdiff_t unit = is_one_type ? facts->extent : 1;
    const Spans block = spans_of(static_cast<const std::byte*>(data) + displs[r] * unit, type, counts[r]);
    all.insert(all.end(), block.begin(), block.end());
  }
  return all;
}

/// The block of a rank: of one count, or of one for each; of one type, or of one for each.
template <typename Types, typename N>
std::function<Signature(int)> blocks(Description& call, const Ranks& ranks, Types type, const N& count) {
  if constexpr (std::is_pointer_v<N>) {
    std::vector<Signature> all;
    for (int r = 0; r < ranks.size; ++r) {
      if constexpr (std::is_same_v<std::decay_t<Types>, MPI_Datatype>)
        all.push_back(take_signature(call, type, count[r]));
      else
        all.push_back(take_signature(call, type[r], count[r]));
    }
    return [all](int rank) { return all[static_cast<std::size_t>(rank)]; };
  } else {
    const Signature one = take_signature(call, type, count);
    return [one](int) { return one; };
  }
}

inline void take_root(Description& call, const Ranks& ranks, int root) {
  call.root = root;
  if (root < 0 || root >= ranks.size) call.is_refused = true;
}

/// The blocks of all ranks, one after the other.
template <typename N>
void take_all(Description& call, int size, const std::function<Signature(int)>& block, const N& /*counts*/) {
  for (int r = 0; r < (std::is_pointer_v<N> ? size : 1); ++r) {
    call.all = joined(call.all, block(r));
    call.all.hash = call.all.hash * 31 + block(r).items;  // the counts of the blocks too
  }
}

/// Arguments in MPI's order: send, count, type[, recv], and so on.
template <typename All>
void describe_reduction(Description& call, const Ranks& ranks, const All& all) {
  const auto& [send, recv, count, type, op] = all;
  call.op = op;
  take_all(call, ranks.size, blocks(call, ranks, type, count), count);
  if constexpr (!std::is_pointer_v<std::decay_t<decltype(count)>>) {
    call.sent = spans_of(send, type, count);
    if (send != MPI_IN_PLACE) call.received = spans_of(recv, type, count);
  }
}

/// A root and the others: the root's side has a block for each.
template <typename Own, typename Root, typename N>
void describe_rooted(Description& call, const Ranks& ranks, bool root_gives, const Own& own, const Root& block_type,
                     const N& count) {
  call.compared = Compared::with_root;
  const bool is_root = ranks.rank == call.root;
  auto& side = is_root == root_gives ? call.given : call.expected;
  side = is_root ? blocks(call, ranks, block_type, count) : own();
}

}  // namespace detail

/// The description of a call by its arguments, in MPI's order without the communicator. Arguments that MPI takes no
/// notice of on this rank are not read.
template <Collective which, typename... Args>
Description described(const Ranks& ranks, Args... args) {
  constexpr OperationTraits row =
      is_operation(which) ? traits_of(static_cast<tutti::Operation>(which)) : OperationTraits{};
  Description call;
  const auto all = std::make_tuple(args...);
  using detail::blocks;
  using detail::spans_of;
  if constexpr (which == Collective::bcast) {
    const auto& [data, count, type, root] = all;
    detail::take_root(call, ranks, root);
    call.all = detail::take_signature(call, type, count);
    (ranks.rank == root ? call.sent : call.received) = spans_of(data, type, count);
  } else if constexpr (which == Collective::reduce) {
    const auto& [send, recv, count, type, op, root] = all;
    detail::take_root(call, ranks, root);
    detail::describe_reduction(call, ranks, std::tuple(send, recv, count, type, op));
    if (ranks.rank != root) call.received = {};
  } else if constexpr (row.combines()) {
    detail::describe_reduction(call, ranks, all);
    if (which == Collective::exscan && ranks.rank == 0 && std::get<0>(all) != MPI_IN_PLACE) call.received = {};
  } else if constexpr (row.root == RootPart::takes) {
    const auto own = [&] { return blocks(call, ranks, std::get<2>(all), std::get<1>(all)); };
    constexpr std::size_t last = sizeof...(Args) - 1;
    detail::take_root(call, ranks, std::get<last>(all));
    detail::describe_rooted(call, ranks, false, own, std::get<last - 1>(all), std::get<4>(all));
    if (ranks.rank != call.root) call.sent = spans_of(std::get<0>(all), std::get<2>(all), std::get<1>(all));
    if (ranks.rank == call.root && std::get<0>(all) != MPI_IN_PLACE) {
      if constexpr (row.taken == BlockKind::each)
        call.received = spans_of(std::get<3>(all), std::get<5>(all), MPI_Count{std::get<4>(all)} * ranks.size);
      else
        call.received = spans_of(std::get<3>(all), std::get<6>(all), std::get<4>(all), std::get<5>(all), ranks.size);
    }
  } else if constexpr (row.root == RootPart::gives) {
    constexpr std::size_t last = sizeof...(Args) - 1;
    const auto own = [&] { return blocks(call, ranks, std::get<last - 1>(all), std::get<last - 2>(all)); };
    detail::take_root(call, ranks, std::get<last>(all));
    detail::describe_rooted(call, ranks, true, own, std::get<last - 4>(all), std::get<1>(all));
    if (ranks.rank == call.root) {
      if constexpr (row.given == BlockKind::each)
        call.sent = spans_of(std::get<0>(all), std::get<2>(all), MPI_Count{std::get<1>(all)} * ranks.size);
      else
        call.sent = spans_of(std::get<0>(all), std::get<3>(all), std::get<1>(all), std::get<2>(all), ranks.size);
    }
    call.received = spans_of(std::get<last - 3>(all), std::get<last - 1>(all), std::get<last - 2>(all));
  } else if constexpr (row.taken != BlockKind::none && row.given != BlockKind::counted) {
    constexpr std::size_t type = sizeof...(Args) - 1;
    const bool is_in_place = std::get<0>(all) == MPI_IN_PLACE;
    call.expected = blocks(call, ranks, std::get<type>(all), std::get<4>(all));
    detail::take_all(call, ranks.size, call.expected, std::get<4>(all));
    if (!is_in_place) {
      if constexpr (row.taken == BlockKind::counted)
        call.received = spans_of(std::get<3>(all), std::get<6>(all), std::get<4>(all), std::get<5>(all), ranks.size);
      else
        call.received = spans_of(std::get<3>(all), std::get<type>(all), MPI_Count{std::get<4>(all)} * ranks.size);
      const int blocks_sent = row.given == BlockKind::each ? ranks.size : 1;
      call.given = blocks(call, ranks, std::get<2>(all), std::get<1>(all));
      call.sent = spans_of(std::get<0>(all), std::get<2>(all), MPI_Count{std::get<1>(all)} * blocks_sent);
    }
  } else if constexpr (row.given == BlockKind::counted || which == Collective::alltoallw) {
    call.compared = Compared::all;
    call.expected = blocks(call, ranks, std::get<7>(all), std::get<5>(all));
    call.given =
        std::get<0>(all) == MPI_IN_PLACE ? call.expected : blocks(call, ranks, std::get<3>(all), std::get<1>(all));
    if (std::get<0>(all) == MPI_IN_PLACE || call.is_refused) return call;
    call.sent = spans_of(std::get<0>(all), std::get<3>(all), std::get<1>(all), std::get<2>(all), ranks.size);
    call.received = spans_of(std::get<4>(all), std::get<7>(all), std::get<5>(all), std::get<6>(all), ranks.size);
  }
  return call;
}

}  // namespace tutti::preload
