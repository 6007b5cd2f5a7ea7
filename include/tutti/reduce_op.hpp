// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <tutti/datatype.hpp>
#include <tutti/detail/export.hpp>

namespace tutti {

/// The reductions. The numbers are those of the C and Fortran constants.
enum class ReduceKind : std::uint8_t {
  sum = 1,
  prod = 2,
  min = 3,         ///< NaN wins and becomes one fixed quiet NaN; -0 is less than +0; so all ranks get the same bits
  max = 4,         ///< as min
  avg = 5,         ///< sum divided by the number of ranks; integers round towards zero
  premul_sum = 6,  ///< sum of scalar * x; each rank has its own scalar
  land = 7,
  lor = 8,
  lxor = 9,
  band = 10,
  bor = 11,
  bxor = 12,
  minloc = 13,  ///< on value-index pairs; equal values give the lowest index
  maxloc = 14,  ///< as minloc
  user = 15,
};

/// A user's reduction: computes inout[i] = in[i] op inout[i] for count elements; `in` comes from the lower rank. It
/// must be associative, must not call Tutti or MPI, and must not throw. Counterpart: MPI_User_function.
using UserFunction = void (*)(const void* in, void* inout, std::size_t count, Datatype type, void* context);

/// A reduction operation. A small value type that is passed by copy. Counterpart: MPI_Op, ncclRedOp_t.
class ReduceOp {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): a kind is an operation
  constexpr ReduceOp(ReduceKind kind) : kind_(kind) {}

  /// Sums scalar * x, for floating-point and complex types. Counterpart: ncclRedOpCreatePreMulSum.
  [[nodiscard]] static constexpr ReduceOp premul_sum(double scalar) {
    ReduceOp op{ReduceKind::premul_sum};
    op.scalar_ = scalar;
    return op;
  }

  /// Reduces with a user's function. The function and its context must outlive every call that uses the operation. All
  /// ranks pass functions that do the same. commutative = false combines in rank order, as in MPI. Counterpart:
  /// MPI_Op_create.
  [[nodiscard]] static constexpr ReduceOp user(UserFunction function, void* context = nullptr,
                                               bool commutative = true) {
    ReduceOp op{ReduceKind::user};
    op.function_ = function;
    op.context_ = context;
    op.commutative_ = commutative;
    return op;
  }

  [[nodiscard]] constexpr ReduceKind kind() const { return kind_; }
  [[nodiscard]] constexpr bool commutative() const { return commutative_; }
  [[nodiscard]] constexpr double scalar() const { return scalar_; }
  [[nodiscard]] constexpr UserFunction function() const { return function_; }
  [[nodiscard]] constexpr void* context() const { return context_; }

 private:
  ReduceKind kind_;
  bool commutative_ = true;
  double scalar_ = 1.0;
  UserFunction function_ = nullptr;
  void* context_ = nullptr;
};

inline constexpr ReduceOp sum{ReduceKind::sum};
inline constexpr ReduceOp prod{ReduceKind::prod};
inline constexpr ReduceOp min{ReduceKind::min};
inline constexpr ReduceOp max{ReduceKind::max};
inline constexpr ReduceOp avg{ReduceKind::avg};
inline constexpr ReduceOp land{ReduceKind::land};
inline constexpr ReduceOp lor{ReduceKind::lor};
inline constexpr ReduceOp lxor{ReduceKind::lxor};
inline constexpr ReduceOp band{ReduceKind::band};
inline constexpr ReduceOp bor{ReduceKind::bor};
inline constexpr ReduceOp bxor{ReduceKind::bxor};
inline constexpr ReduceOp minloc{ReduceKind::minloc};
inline constexpr ReduceOp maxloc{ReduceKind::maxloc};

/// The name of an operation in messages, tables and command lines: "sum".
[[nodiscard]] TUTTI_EXPORT const char* reduce_op_name(ReduceKind kind) noexcept;

/// Returns true if an operation is defined for a datatype: arithmetic operations on numbers (but min and max not on
/// complex numbers), bit operations on integers, logical operations on integers and logicals, minloc and maxloc on
/// pairs, user operations on all types.
[[nodiscard]] TUTTI_EXPORT bool is_defined(ReduceKind kind, DatatypeKind type) noexcept;

}  // namespace tutti
