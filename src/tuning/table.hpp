// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string_view>

#include "communicator/signature.hpp"

namespace tutti::detail::tuning {

/// What was measured on a machine: seconds by operation, call kind, datatype class, size and candidate, for one number
/// of ranks on one topology. Immutable, and equal on all ranks of the communicator that uses it.
class Table {
 public:
  /// Measured seconds of a candidate ("shm:slots", "mpi:ring", "native") at the size of a call, between the two
  /// nearest measured sizes; nothing where it was not measured near there.
  [[nodiscard]] std::optional<double> seconds(const Signature& signature, std::string_view candidate) const;
};

}  // namespace tutti::detail::tuning
