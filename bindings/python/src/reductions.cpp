// SPDX-License-Identifier: BSD-3-Clause
// Collectives that combine: allreduce, reduce, scan, exscan, reduce_scatter_block.
#include <tutti/collectives/allreduce.hpp>
#include <tutti/collectives/exscan.hpp>
#include <tutti/collectives/reduce.hpp>
#include <tutti/collectives/reduce_scatter_block.hpp>
#include <tutti/collectives/scan.hpp>

#include "calls.hpp"

namespace nb = nanobind;

namespace tutti::python {
namespace {

TUTTI_PYTHON_CALL(allreduce)
TUTTI_PYTHON_CALL(reduce)
TUTTI_PYTHON_CALL(scan)
TUTTI_PYTHON_CALL(exscan)
TUTTI_PYTHON_CALL(reduce_scatter_block)

using Use = View::Use;

template <typename Call>
void define_reduction(CommunicatorClass& communicator, const std::string& description) {
  const auto body = [](auto form) {
    return
        [form](PythonCommunicator& comm, nb::object send, nb::object recv, nb::object op, const nb::kwargs& options) {
          Held held;
          const Operation& operation = operation_from(op);
          held.operation = operation.function;
          const bool in_place_form = recv.is_none();
          held.first = View(in_place_form ? in_place_object() : nb::handle(send), Use::read, "send");
          held.second = View(in_place_form ? send : recv, Use::write, in_place_form ? "send" : "recv");
          return make_call<Call>(form, comm, held, in_place_form ? send : recv, held.first.input(),
                                 Buffer(held.second.output()), operation.op, options_from(options));
        };
  };
  define_forms<Call>(
      communicator,
      {"send: ArrayOrInPlace, recv: Array | None = None, op: ReduceOp | str = 'sum'", "Array",
       description + " Returns the array that was written. Raises Error: INVALID_ARGUMENT, INVALID_OP, MISMATCH, "
                     "TIMEOUT, ABORTED, MPI."},
      body, nb::arg("send"), nb::arg("recv").none() = nb::none(), nb::arg("op") = "sum");
}

void define_reduce(CommunicatorClass& communicator) {
  const auto body = [](auto form) {
    return [form](PythonCommunicator& comm, nb::object send, nb::object recv, nb::object op, int root,
                  const nb::kwargs& options) {
      Held held;
      const Operation& operation = operation_from(op);
      held.operation = operation.function;
      held.first = View(send, Use::read, "send");
      if (!recv.is_none()) held.second = View(recv, Use::write, "recv");
      return make_call<reduce_call>(form, comm, held, recv, held.first.input(), Buffer(held.second.output()),
                                    operation.op, root, options_from(options));
    };
  };
  define_forms<reduce_call>(
      communicator,
      {"send: ArrayOrInPlace, recv: Array | None = None, op: ReduceOp | str = 'sum', root: int = 0", "Array | None",
       "Combines the ranks' arrays element by element and leaves the result at the root. Collective. send: n elements "
       "on "
       "all ranks; recv: n elements at the root; other ranks pass None. With send=IN_PLACE at the root its "
       "contribution "
       "is read from recv. Returns recv. Raises Error as allreduce."},
      body, nb::arg("send"), nb::arg("recv").none() = nb::none(), nb::arg("op") = "sum", nb::arg("root") = 0);
}

/// One number of each rank, by allreduce.
template <typename T>
nb::object combine(PythonCommunicator& comm, T value, const Operation& operation, const Options& options) {
  comm.run([&] { allreduce(comm.get(), in_place, Buffer(&value, 1), operation.op, options); });
  return nb::cast(value);
}

nb::object allreduce_value(PythonCommunicator& comm, nb::object value, nb::object op, const nb::kwargs& keywords) {
  const Operation& operation = operation_from(op);
  const Options options = options_from(keywords);
  if (nb::isinstance<nb::bool_>(value)) return combine(comm, nb::cast<bool>(value), operation, options);
  if (nb::isinstance<nb::int_>(value))
    return combine(comm, value_from<std::int64_t>(value, "value", "an integer of 64 bits, or a float"), operation,
                   options);
  return combine(comm, value_from<double>(value, "value", "a number"), operation, options);
}

}  // namespace

void bind_reductions(CommunicatorClass& communicator) {
  define_reduction<allreduce_call>(
      communicator,
      "Combines the ranks' arrays element by element and gives all ranks the result. Collective. send, recv: n "
      "elements. In place (recv=None, or send=IN_PLACE): the array holds the contribution, then the result.");
  define_reduction<scan_call>(
      communicator,
      "Gives rank r the combination of the arrays of ranks 0 to r, in rank order. Collective. send, recv: n elements; "
      "in place as allreduce.");
  define_reduction<exscan_call>(communicator,
                                "Gives rank r > 0 the combination of the arrays of ranks 0 to r - 1, in rank order; "
                                "rank 0's result is unchanged. "
                                "Collective. send, recv: n elements; in place as allreduce.");
  define_reduction<reduce_scatter_block_call>(
      communicator,
      "Combines the ranks' arrays and gives rank r block r of the result. Collective. recv: n elements; send: n times "
      "the number of ranks. In place: the first n elements of the array then hold the result.");
  define_reduce(communicator);
  communicator.def(
      "allreduce_value", allreduce_value, nb::arg("value"), nb::arg("op") = "sum", nb::arg("options"),
      nb::sig("def allreduce_value(self, value: int | float | bool, op: ReduceOp | str = 'sum', **options: "
              "Unpack[Options]) -> typing.Any"),
      "Combines one number of each rank and returns the result: int (64 bits), float or bool, the same "
      "type on all ranks. Collective, blocking. Raises Error as allreduce.");
}

}  // namespace tutti::python
