// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

namespace tutti::preload {

/// How a datatype was made (MPI 4.0, section 5.1.13). Ends the handles that the MPI gives for its parts.
class Construction {
 public:
  explicit Construction(MPI_Datatype type);
  ~Construction();
  Construction(const Construction&) = delete;
  Construction& operator=(const Construction&) = delete;

  [[nodiscard]] int combiner() const { return combiner_; }
  /// Without parts: a predefined type, or one of a precision of Fortran.
  [[nodiscard]] bool is_named() const;
  /// The numbers of the constructor, in their order: its counts and then its displacements in bytes. One with large
  /// counts has those that are never large behind them, as the dimensions of a subarray and the order.
  [[nodiscard]] MPI_Count number(std::size_t i) const { return numbers_[i]; }
  [[nodiscard]] const std::vector<MPI_Count>& numbers() const { return numbers_; }
  [[nodiscard]] bool has_large_counts() const { return has_large_counts_; }
  [[nodiscard]] const std::vector<MPI_Datatype>& parts() const { return parts_; }

 private:
  int combiner_ = MPI_COMBINER_NAMED;
  std::vector<MPI_Count> numbers_{};
  std::vector<MPI_Datatype> parts_{};
  bool has_large_counts_ = false;
};

}  // namespace tutti::preload
