// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <tutti/reduce_op.hpp>
#include <vector>

#include "schedules/problem.hpp"

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

[[nodiscard]] inline schedules::Problem problem_of(int rank, int size, int root, std::size_t count,
                                                   const Binding& binding) {
  schedules::Problem problem;
  problem.rank = rank;
  problem.size = size;
  problem.root = root;
  problem.count = count;
  problem.send_count = binding.send_count;
  problem.recv_count = binding.recv_count;
  problem.send_counts = binding.send_counts;
  problem.send_displs = binding.send_displs;
  problem.recv_counts = binding.recv_counts;
  problem.recv_displs = binding.recv_displs;
  return problem;
}

}  // namespace tutti::detail
