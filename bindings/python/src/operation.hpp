// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <tutti/reduce_op.hpp>

namespace tutti::python {

/// A reduction and the Python function behind it, if it is a user's.
struct Operation {
  ReduceOp op = sum;
  nanobind::object function{};
};

/// The operation of an Operation or of a name ("sum"). Throws Error(invalid_op) for another name.
[[nodiscard]] const Operation& operation_from(nanobind::handle object);

void bind_operation(nanobind::module_& module);

}  // namespace tutti::python
