// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <tutti/reduce_op.hpp>

namespace tutti::detail {

/// The blocks of a call with counts, one number a rank in each list, in elements. Refers to lists of others.
struct BlockLists {
  std::span<const std::size_t> send_counts{};
  std::span<const std::size_t> send_displs{};
  std::span<const std::size_t> recv_counts{};
  std::span<const std::size_t> recv_displs{};

  /// Replaces the lists by copies, which live as long as what this returns; null if there are none.
  [[nodiscard]] std::shared_ptr<const void> copy();

  friend bool operator==(const BlockLists& a, const BlockLists& b) noexcept {
    using std::ranges::equal;
    return equal(a.recv_counts, b.recv_counts) && equal(a.recv_displs, b.recv_displs) &&
           equal(a.send_counts, b.send_counts) && equal(a.send_displs, b.send_displs);
  }
};

/// This rank's part of a call: its buffers and counts. Must not influence the messages between ranks.
struct Binding : BlockLists {
  const void* input = nullptr;
  void* output = nullptr;
  bool in_place = false;
  ReduceOp op{ReduceKind::sum};
  std::size_t send_count = 0;
  std::size_t recv_count = 0;
  std::shared_ptr<const void> kept{};  ///< copies of the lists; null: they are the caller's

  /// For a call that outlives its caller's lists.
  void keep_lists() {
    if (kept == nullptr) kept = copy();
  }
  /// Has an alltoallv in place send a copy, in which its blocks follow one another: memory between those of the caller
  /// may be long. Gives the elements of the copy.
  std::size_t send_copy();
  /// Makes that copy.
  void copy_sent(std::size_t unit, std::byte* copy) const;
};

}  // namespace tutti::detail
