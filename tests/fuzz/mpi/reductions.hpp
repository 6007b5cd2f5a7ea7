// SPDX-License-Identifier: BSD-3-Clause
// Operations beside the types that they combine, and operands whose combination is the same in every order.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "fuzz/mpi/types.hpp"

namespace tutti::fuzz::mpi {

enum class Combination { of_mpi, sum_of_words, product_of_matrices };

struct Reduction {
  std::string name{};
  Combination combination = Combination::of_mpi;
  MPI_Op op = MPI_OP_NULL;  ///< of the MPI
  MPI_Datatype type = MPI_DATATYPE_NULL;
  std::vector<char> has_value{};  ///< for each byte of an element: whether it belongs to the value
  void (*draw)(Random& random, std::byte* element) = nullptr;
};
/// All pairs of an operation and a type, users' ones included.
[[nodiscard]] const std::vector<Reduction>& reductions();

/// The type of a call's operands: the MPI's, or a new one whose attribute the user's operation looks for. None has
/// gaps: these reductions are the MPI's, and MPICH 4.0.2 writes outside their buffers.
[[nodiscard]] Type operand_type(const Reduction& reduction);

/// An operation of this process, freed with it unless it is the MPI's.
class Op {
 public:
  Op() = default;
  explicit Op(const Reduction& reduction, bool has_large_counts = false);
  ~Op();
  Op(Op&& other) noexcept { swap(other); }
  Op& operator=(Op&& other) noexcept {
    swap(other);
    return *this;
  }
  Op(const Op&) = delete;
  Op& operator=(const Op&) = delete;
  [[nodiscard]] MPI_Op get() const { return handle_; }

 private:
  void swap(Op& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(is_own_, other.is_own_);
  }
  MPI_Op handle_ = MPI_OP_NULL;
  bool is_own_ = false;
};

/// Whether a user's operation was called with another datatype than that of the call, since the last question.
[[nodiscard]] bool had_wrong_type();

}  // namespace tutti::fuzz::mpi
