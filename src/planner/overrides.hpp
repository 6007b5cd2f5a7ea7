// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "operation/signature.hpp"

namespace tutti::detail::tuning {

/// The contents of TUTTI_ALGORITHM: "allreduce:ring,bcast:shm:slots,alltoall:native".
class Overrides {
 public:
  Overrides() = default;
  /// Throws Error: invalid_argument for text that cannot be parsed and for unknown operations, invalid_algorithm for
  /// unknown algorithms. Both list the valid names, the most similar first.
  explicit Overrides(std::string_view text);

  /// The algorithm for an operation; empty if none is named.
  [[nodiscard]] std::string_view of(Operation operation) const { return names_[static_cast<std::size_t>(operation)]; }

 private:
  void add(std::string_view entry);
  std::array<std::string, 16> names_{};
};

/// The names that calls of an operation may pass as algorithm: "ring", "mpi:ring", "shm:slots", "native", "shm", ….
[[nodiscard]] std::vector<std::string> algorithm_names(Operation operation);

/// The overrides in TUTTI_ALGORITHM as it was at the first call. Throws as Overrides does, each time.
[[nodiscard]] std::string_view override_for(Operation operation);

/// A hash of the text of TUTTI_ALGORITHM. Throws nothing: ranks compare the hash before any of them parses the text, so
/// that all of them fail in the same way.
[[nodiscard]] std::uint64_t overrides_hash() noexcept;

}  // namespace tutti::detail::tuning
