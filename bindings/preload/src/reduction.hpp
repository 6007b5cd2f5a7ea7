// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <tutti/buffer.hpp>
#include <tutti/reduce_op.hpp>

#include "held.hpp"
#include "report.hpp"
#include "types.hpp"

namespace tutti::preload {

/// How the elements of a call are combined: by the library, or by MPI_Reduce_local where the library has no such type
/// or operation. The MPI demands the same type and operation on all ranks, so all choose the same.
class Reduction {
 public:
  /// Says in return why the MPI must make the call: it refuses the operation, or elements have gaps.
  Reason take(MPI_Datatype handle, const Type& type, MPI_Op op);
  /// For calls that outlive this one.
  void hold();
  [[nodiscard]] ReduceOp op() const { return op_; }
  [[nodiscard]] ConstBuffer input(const void* address, std::size_t count) const;
  [[nodiscard]] Buffer output(void* address, std::size_t count) const;

 private:
  struct Local {
    HeldType type;
    HeldOp op;
  };
  static void combine(const void* in, void* inout, std::size_t count, Datatype type, void* context);
  Reason take_local(MPI_Datatype handle, const Type& type, MPI_Op op);

  ReduceOp op_ = sum;
  Datatype element_{};
  std::unique_ptr<Local> local_{};
};

/// "sum", or "user's".
[[nodiscard]] const char* op_name(MPI_Op op);

}  // namespace tutti::preload
