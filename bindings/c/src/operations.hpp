// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tutti.h>

#include <memory>
#include <tutti/reduce_op.hpp>

namespace tutti::c {

/// What a handle made by tutti_op_user or tutti_op_premul_sum stands for.
struct OpRecord {
  tutti_user_function_t function = nullptr;
  void* context = nullptr;
  bool commutative = true;
  double scalar = 1.0;
};

/// Keeps a record while a call uses it; empty for the operations of the library.
using OpReference = std::shared_ptr<OpRecord>;

struct Operation {
  ReduceOp op;
  OpReference record;
};

/// The operation of a handle. Throws ErrorCode::invalid_op where there is none.
[[nodiscard]] Operation operation(tutti_op_t op);

}  // namespace tutti::c
