// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <tutti/buffer.hpp>
#include <tutti/reduce_op.hpp>

#include "buffers.hpp"
#include "report.hpp"
#include "types.hpp"

namespace tutti::preload {

/// An operation of the program that outlives its MPI_Op_free.
class HeldOp {
 public:
  explicit HeldOp(MPI_Op handle = MPI_OP_NULL) : handle_(handle) {}
  ~HeldOp();
  HeldOp(HeldOp&& other) noexcept;
  HeldOp& operator=(HeldOp&& other) noexcept;
  HeldOp(const HeldOp&) = delete;
  HeldOp& operator=(const HeldOp&) = delete;
  void hold();
  [[nodiscard]] MPI_Op get() const { return handle_; }

 private:
  MPI_Op handle_;
  bool is_held_ = false;
};

/// Frees an operation, or leaves that to the last call that uses it.
int free_op(MPI_Op* handle);

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
    bool is_derived;  ///< the program may free the type
  };
  static void combine(const void* in, void* inout, std::size_t count, Datatype type, void* context);
  Reason take_local(MPI_Datatype handle, const Type& type, MPI_Op op);

  ReduceOp op_ = sum;
  Datatype element_{};
  std::unique_ptr<Local> local_{};
};

}  // namespace tutti::preload
