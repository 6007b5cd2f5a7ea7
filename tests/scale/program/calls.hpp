// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <istream>
#include <string>
#include <vector>

#include "operation/operation.hpp"

namespace tutti::scale {

/// A call to time: "allreduce 4096 ring", or "allreduce 4096 selector" for the collective of the simulated MPI. The
/// blocks of an alltoallv have one size. Compositions (composed.hpp) and schedules of others (peers.hpp) are ways too.
struct Call {
  Operation operation{};
  std::size_t bytes = 0;  ///< of the vector, or of all blocks of a rank
  std::string way;
  [[nodiscard]] bool is_of_selector() const { return way == "selector"; }
};

/// One call a line. Throws std::runtime_error, which names the line, for what is none.
[[nodiscard]] std::vector<Call> read_calls(std::istream& lines);

/// The elements, of 4 bytes, of a call's vector or of one block.
[[nodiscard]] std::size_t count_of(const Call& call, int ranks);

/// The elements of the input and of the output of a rank.
struct Extent {
  std::size_t input = 0;
  std::size_t output = 0;
};
[[nodiscard]] Extent extent_of(const Call& call, int ranks);

}  // namespace tutti::scale
