// SPDX-License-Identifier: BSD-3-Clause
#include "operations.hpp"

namespace tutti::commbench {

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
