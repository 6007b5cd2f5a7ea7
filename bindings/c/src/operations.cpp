// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <span>
#include <tutti/error.hpp>
#include <tutti/kernels/combine.hpp>
#include <tutti/mpi.hpp>

#include "fortran_handles.h"
#include "guard.hpp"
#include "handles.hpp"

namespace tutti::c {
namespace {

constexpr tutti_op_t first_made = 256;

/// The operations made by the program. Never destroyed: they may be freed after the statics of this file.
NumberTable<OpRecord>& made_operations() {
  static auto* table = new NumberTable<OpRecord>(first_made, 1);
  return *table;
}

void call_user(const void* in, void* inout, std::size_t count, Datatype type, void* record) {
  const auto* op = static_cast<const OpRecord*>(record);
  op->function(in, inout, count, datatype_handle(type), op->context);
}

[[noreturn]] void throw_unknown(tutti_op_t op) {
  throw_misuse(ErrorCode::invalid_op,
               fmt::format("argument op is {}, which is no operation; pass a constant of tutti.h "
                           "or an operation made by tutti_op_user or tutti_op_premul_sum",
                           op));
}

}  // namespace

Operation made_operation(tutti_op_t op) {
  OpReference record = made_operations().find(op);
  if (!record) throw_unknown(op);
  if (record->function == nullptr) return {ReduceOp::premul_sum(record->scalar), nullptr};
  return {ReduceOp::user(call_user, record.get(), record->commutative), record};
}

}  // namespace tutti::c

using namespace tutti::c;

const char* tutti_op_name(tutti_op_t op) {
  if (is_built_in(op)) return tutti::reduce_op_name(static_cast<tutti::ReduceKind>(op));
  const OpReference record = made_operations().find(op);
  if (!record) return "unknown operation";
  return tutti::reduce_op_name(record->function != nullptr ? tutti::ReduceKind::user : tutti::ReduceKind::premul_sum);
}

int tutti_op_premul_sum(double scalar, tutti_op_t* op) {
  return guard([&] {
    OpRecord record;
    record.scalar = scalar;
    output(op, "op") = made_operations().insert(record);
  });
}

int tutti_op_user(tutti_user_function_t function, void* context, int commutative, tutti_op_t* op) {
  return guard([&] {
    if (function == nullptr) throw_null("function", "pass the function that combines");
    output(op, "op") = made_operations().insert({function, context, commutative != 0, 1.0});
  });
}

int tutti_combine(const void* const* inputs, size_t parts, void* output, size_t count, tutti_datatype_t type,
                  tutti_op_t op) {
  return guard([&] {
    const tutti::Datatype element = datatype(type);
    const Operation chosen = operation(op);
    if (inputs == nullptr || parts == 0) throw_null("inputs", "pass the addresses of one or more vectors");
    const std::span<const void* const> all(inputs, parts);
    for (const void* input : all)
      if (input == nullptr && count > 0) throw_null("inputs", "pass the addresses of vectors");
    if (output == nullptr && count > 0) throw_null("output", "pass the address of a vector");
    tutti::kernels::combine(element, chosen.op, all, output, count);
  });
}

int tutti_op_free(tutti_op_t* op) {
  return guard([&] {
    tutti_op_t& handle = output(op, "op");
    if (handle != TUTTI_OP_NULL && !made_operations().erase(handle))
      throw_misuse(
          tutti::ErrorCode::invalid_op,
          fmt::format("argument op is {}, which is no operation made by tutti_op_user or tutti_op_premul_sum, or "
                      "was freed before; free each operation once, and no constant of tutti.h",
                      handle));
    handle = TUTTI_OP_NULL;
  });
}

int tutti_op_from_mpi(MPI_Op mpi_op, tutti_op_t* op) {
  return guard([&] { output(op, "op") = static_cast<tutti_op_t>(tutti::reduce_op_from(mpi_op).kind()); });
}

int tutti_op_from_mpi_f(tutti_fint_t mpi_op, tutti_op_t* op) {
  return tutti_op_from_mpi(TUTTI_OP_FROM_FORTRAN(mpi_op), op);
}
