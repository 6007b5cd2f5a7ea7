// SPDX-License-Identifier: BSD-3-Clause
#include "call/shape.hpp"

#include <algorithm>
#include <numeric>

namespace tutti::detail {
namespace {

std::size_t extent(const std::vector<std::size_t>& counts, const std::vector<std::size_t>& displs) {
  std::size_t end = 0;
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (counts[i] > 0) end = std::max(end, displs[i] + counts[i]);
  return end;
}

}  // namespace

std::size_t input_count(Operation operation, int size, std::size_t count, const Binding& binding) {
  switch (operation) {
    case Operation::barrier:
    case Operation::bcast:
      return 0;
    case Operation::reduce_scatter_block:
    case Operation::alltoall:
    case Operation::scatter:
      return count * static_cast<std::size_t>(size);
    case Operation::reduce_scatter:
      return std::accumulate(binding.recv_counts.begin(), binding.recv_counts.end(), std::size_t{0});
    case Operation::gatherv:
    case Operation::allgatherv:
      return binding.send_count;
    case Operation::scatterv:
    case Operation::alltoallv:
      return extent(binding.send_counts, binding.send_displs);
    default:
      return count;
  }
}

std::size_t result_count(const Signature& signature, const Binding& binding, int rank) {
  switch (signature.operation) {
    case Operation::reduce:
      return rank == signature.root ? signature.count : 0;
    case Operation::reduce_scatter:
      return binding.recv_counts[static_cast<std::size_t>(rank)];
    default:
      return signature.count;
  }
}

}  // namespace tutti::detail
