// SPDX-License-Identifier: BSD-3-Clause
#include "operations.hpp"

namespace tutti::commbench {

std::string operation_name(Operation operation) {
  static constexpr std::array<const char*, all_operations.size()> names = {
      "barrier",       "bcast",   "reduce",   "allreduce",  "reduce_scatter_block",
      "scan",          "exscan",  "gather",   "scatter",    "allgather",
      "alltoall",      "gatherv", "scatterv", "allgatherv", "alltoallv",
      "reduce_scatter"};
  return names[static_cast<std::size_t>(operation)];
}

double bus_factor(Operation operation, int ranks) {
  const double others = static_cast<double>(ranks - 1) / static_cast<double>(ranks);
  switch (operation) {
    case Operation::barrier:
      return 0;
    case Operation::bcast:
    case Operation::reduce:
    case Operation::scan:
    case Operation::exscan:
      return 1;
    case Operation::allreduce:
      return 2 * others;
    default:
      return others;
  }
}

double algorithm_bandwidth(std::size_t bytes, double seconds) {
  return seconds > 0 ? static_cast<double>(bytes) / seconds / 1e9 : 0;
}

}  // namespace tutti::commbench
