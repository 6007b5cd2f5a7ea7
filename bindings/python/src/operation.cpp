// SPDX-License-Identifier: BSD-3-Clause
#include "operation.hpp"

#include <nanobind/stl/string.h>

#include <array>
#include <string>
#include <tutti/error.hpp>

#include "numpy_array.hpp"
#include "request.hpp"

namespace nb = nanobind;

namespace tutti::python {
namespace {

constexpr int kinds = static_cast<int>(ReduceKind::user);

/// The operations without a parameter, by number.
Operation& constant(int kind) {
  static auto* const operations = [] {
    auto* made = new std::array<Operation, kinds>();
    for (int i = 1; i < kinds; ++i) (*made)[static_cast<std::size_t>(i)].op = ReduceOp(static_cast<ReduceKind>(i));
    return made;
  }();
  return (*operations)[static_cast<std::size_t>(kind)];
}

/// The context is the Python function, which every call that uses the operation keeps.
void call_python(const void* in, void* inout, std::size_t count, Datatype type, void* context) {
  const nb::gil_scoped_acquire lock;
  const NoLookAfter no_others;
  const nb::handle function(static_cast<PyObject*>(context));
  std::string text;
  try {
    const nb::object a = numpy_array(const_cast<void*>(in), type, {count}, nb::handle());
    const nb::object b = numpy_array(inout, type, {count}, nb::handle());
    function(a, b);
    return;
  } catch (nb::python_error& error) {
    text = error.what();
    error.discard_as_unraisable(function);
  }
  throw Error(ErrorCode::invalid_op, "the Python function of the reduction raised an exception: " + text);
}

Operation user_operation(const nb::callable& function, bool commutative) {
  return {ReduceOp::user(call_python, function.ptr(), commutative), function};
}

}  // namespace

const Operation& operation_from(nb::handle object) {
  const Operation* operation = nullptr;
  if (nb::try_cast(object, operation) && operation != nullptr) return *operation;
  if (!nb::isinstance<nb::str>(object))
    throw nb::type_error("argument op is neither an operation (tutti.SUM) nor its name ('sum')");
  const std::string name = nb::cast<std::string>(object);
  for (int kind = 1; kind < kinds; ++kind)
    if (name == reduce_op_name(static_cast<ReduceKind>(kind))) return constant(kind);
  throw Error(ErrorCode::invalid_op, "argument op is '" + name + "', which is no operation; tutti.ReduceOp lists them");
}

void bind_operation(nb::module_& module) {
  nb::class_<Operation>(module, "ReduceOp",
                        "A reduction: SUM, PROD, MIN, MAX, AVG, LAND, LOR, LXOR, BAND, BOR, BXOR, MINLOC, MAXLOC, "
                        "premul_sum(scalar) or user(function). Calls also take the names: op='max'.")
      .def_static(
          "premul_sum",
          [](double scalar) {
            return Operation{ReduceOp::premul_sum(scalar), {}};
          },
          nb::arg("scalar"), "Sums scalar * x; each rank has its own scalar.")
      .def_static(
          "user", user_operation, nb::arg("function"), nb::arg("commutative") = true,
          nb::sig("def user(function: typing.Callable[[numpy.ndarray, numpy.ndarray], typing.Any], "
                  "commutative: bool = True) -> ReduceOp"),
          "Combines by function(a, b), which sets the NumPy array b to a op b, element by element; a comes from "
          "the lower rank. It must be associative and mean the same on all ranks. An exception in it breaks the "
          "communicator. Types that NumPy lacks come as their bytes. commutative=False combines in rank order.")
      .def_prop_ro("name", [](const Operation& operation) { return reduce_op_name(operation.op.kind()); })
      .def("__repr__", [](const Operation& operation) {
        return "tutti.ReduceOp('" + std::string(reduce_op_name(operation.op.kind())) + "')";
      });
  for (int kind = 1; kind < kinds; ++kind) {
    if (static_cast<ReduceKind>(kind) == ReduceKind::premul_sum) continue;
    std::string name = reduce_op_name(static_cast<ReduceKind>(kind));
    for (char& letter : name) letter = static_cast<char>(letter - 'a' + 'A');
    module.attr(name.c_str()) = nb::cast(constant(kind), nb::rv_policy::reference);
  }
}

}  // namespace tutti::python
