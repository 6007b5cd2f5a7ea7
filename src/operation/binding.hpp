// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <tutti/reduce_op.hpp>
#include <vector>

namespace tutti::detail {

/// This rank's part of a call: its buffers and counts. Must not influence the messages between ranks.
struct Binding {
  const void* input = nullptr;
  void* output = nullptr;
  bool in_place = false;
  ReduceOp op{ReduceKind::sum};
  std::size_t send_count = 0;
  std::size_t recv_count = 0;
  std::vector<std::size_t> send_counts{};
  std::vector<std::size_t> send_displs{};
  std::vector<std::size_t> recv_counts{};
  std::vector<std::size_t> recv_displs{};
};

}  // namespace tutti::detail
