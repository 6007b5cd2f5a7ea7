// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "call/signature.hpp"

namespace tutti::detail::tuning {

/// What TUTTI_ALGORITHM says: "allreduce:ring,bcast:shm:slots,alltoall:native".
class Overrides {
 public:
  Overrides() = default;
  /// Throws Error: invalid_argument for what cannot be read and for unknown operations, invalid_algorithm for unknown
  /// algorithms; both list the valid names, the most similar first.
  explicit Overrides(std::string_view text);

  /// The algorithm for an operation; empty where none is named.
  [[nodiscard]] std::string_view of(Operation operation) const { return names_[static_cast<std::size_t>(operation)]; }

 private:
  void add(std::string_view entry);
  std::array<std::string, 16> names_{};
};

/// The names that calls of an operation may give as their algorithm: "ring", "mpi:ring", "shm:slots", "native", "shm",
/// ….
[[nodiscard]] std::vector<std::string> algorithm_names(Operation operation);

/// Of TUTTI_ALGORITHM as it was when first asked for. Throws as Overrides does, each time.
[[nodiscard]] std::string_view override_for(Operation operation);

/// Equal where the texts of TUTTI_ALGORITHM are equal. Throws nothing: ranks compare it before any of them reads the
/// text, so that all of them fail alike.
[[nodiscard]] std::uint64_t overrides_hash() noexcept;

}  // namespace tutti::detail::tuning
