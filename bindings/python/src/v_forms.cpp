// SPDX-License-Identifier: BSD-3-Clause
// Collectives whose blocks have sizes of their own: gatherv, scatterv, allgatherv, alltoallv, reduce_scatter.
#include <tutti/collectives/allgatherv.hpp>
#include <tutti/collectives/alltoallv.hpp>
#include <tutti/collectives/gatherv.hpp>
#include <tutti/collectives/reduce_scatter.hpp>
#include <tutti/collectives/scatterv.hpp>

#include "calls.hpp"
#include "exchange.hpp"

namespace nb = nanobind;

namespace tutti::python {
namespace {

TUTTI_PYTHON_CALL(gatherv)
TUTTI_PYTHON_CALL(scatterv)
TUTTI_PYTHON_CALL(allgatherv)
TUTTI_PYTHON_CALL(alltoallv)
TUTTI_PYTHON_CALL(reduce_scatter)

using Use = View::Use;

void define_gatherv(CommunicatorClass& communicator) {
  const auto body = [](auto form) {
    return [form](PythonCommunicator& comm, nb::object send, nb::object recv, nb::object counts, nb::object displs,
                  int root, const nb::kwargs& options) {
      Held held;
      held.first = View(send, Use::read, "send");
      if (!recv.is_none()) held.second = View(recv, Use::write, "recv");
      const Numbers sizes = numbers_from(counts, "recv_counts");
      const Numbers places = displacements_from(displs, sizes, "recv_displs");
      return make_call<gatherv_call>(form, comm, held, recv, held.first.input(), Buffer(held.second.output()), sizes,
                                     places, root, options_from(options));
    };
  };
  define_forms<gatherv_call>(
      communicator,
      {"send: ArrayOrInPlace, recv: Array | None = None, recv_counts: Numbers | None = None, recv_displs: Numbers | "
       "None = None, root: int = 0",
       "Array | None",
       "Gathers blocks of different sizes at the root. Collective. At the root, block r has recv_counts[r] elements "
       "and "
       "starts at element recv_displs[r] of recv (default: one block after the other); other ranks pass None. Returns "
       "recv. Raises Error as bcast."},
      body, nb::arg("send"), nb::arg("recv").none() = nb::none(), nb::arg("recv_counts").none() = nb::none(),
      nb::arg("recv_displs").none() = nb::none(), nb::arg("root") = 0);
}

void define_scatterv(CommunicatorClass& communicator) {
  const auto body = [](auto form) {
    return [form](PythonCommunicator& comm, nb::object send, nb::object counts, nb::object recv, nb::object displs,
                  int root, const nb::kwargs& options) {
      Held held;
      if (!send.is_none()) held.first = View(send, Use::read, "send");
      held.second = View(recv, Use::write, "recv");
      const Numbers sizes = numbers_from(counts, "send_counts");
      const Numbers places = displacements_from(displs, sizes, "send_displs");
      const bool in_send = recv.is(in_place_object());
      return make_call<scatterv_call>(form, comm, held, in_send ? send : recv, held.first.input(), sizes, places,
                                      Buffer(held.second.output()), root, options_from(options));
    };
  };
  define_forms<scatterv_call>(
      communicator,
      {"send: Array | None, send_counts: Numbers | None, recv: ArrayOrInPlace, send_displs: Numbers | None = None, "
       "root: "
       "int = 0",
       "Array | None",
       "Gives each rank a block of the root's array. Collective. Rank r receives send_counts[r] elements from element "
       "send_displs[r] of send (default: one block after the other); ranks other than the root pass None for these. "
       "Returns recv. Raises Error as bcast."},
      body, nb::arg("send").none(), nb::arg("send_counts").none(), nb::arg("recv"),
      nb::arg("send_displs").none() = nb::none(), nb::arg("root") = 0);
}

void define_allgatherv(CommunicatorClass& communicator) {
  const auto body = [](auto form) {
    return [form](PythonCommunicator& comm, nb::object send, nb::object recv, nb::object counts, nb::object displs,
                  const nb::kwargs& options) {
      Held held;
      held.first = View(send, Use::read, "send");
      held.second = View(recv, Use::write, "recv");
      const Numbers sizes = numbers_from(counts, "recv_counts");
      const Numbers places = displacements_from(displs, sizes, "recv_displs");
      return make_call<allgatherv_call>(form, comm, held, recv, held.first.input(), Buffer(held.second.output()), sizes,
                                        places, options_from(options));
    };
  };
  define_forms<allgatherv_call>(
      communicator,
      {"send: ArrayOrInPlace, recv: Array, recv_counts: Numbers, recv_displs: Numbers | None = None", "Array",
       "Gathers blocks of different sizes and gives all ranks the result. Collective. Block r has recv_counts[r] "
       "elements, equal on all ranks, and starts at element recv_displs[r] of recv (default: one block after the "
       "other). Returns recv. Raises Error as bcast."},
      body, nb::arg("send"), nb::arg("recv"), nb::arg("recv_counts"), nb::arg("recv_displs").none() = nb::none());
}

void define_reduce_scatter(CommunicatorClass& communicator) {
  const auto body = [](auto form) {
    return [form](PythonCommunicator& comm, nb::object send, nb::object recv, nb::object counts, nb::object op,
                  const nb::kwargs& options) {
      Held held;
      const Operation& operation = operation_from(op);
      held.operation = operation.function;
      held.first = View(send, Use::read, "send");
      held.second = View(recv, Use::write, "recv");
      return make_call<reduce_scatter_call>(form, comm, held, recv, held.first.input(), Buffer(held.second.output()),
                                            numbers_from(counts, "recv_counts"), operation.op, options_from(options));
    };
  };
  define_forms<reduce_scatter_call>(
      communicator,
      {"send: ArrayOrInPlace, recv: Array, recv_counts: Numbers, op: ReduceOp | str = 'sum'", "Array",
       "Combines the ranks' arrays and gives rank r recv_counts[r] elements of the result, in rank order. Collective. "
       "send: as many elements as recv_counts add up to, equal on all ranks. With send=IN_PLACE the whole array is "
       "read "
       "from recv, whose start then holds the result. Returns recv. Raises Error as allreduce."},
      body, nb::arg("send"), nb::arg("recv"), nb::arg("recv_counts"), nb::arg("op") = "sum");
}

}  // namespace

void bind_v_forms(CommunicatorClass& communicator) {
  define_gatherv(communicator);
  define_scatterv(communicator);
  define_allgatherv(communicator);
  define_exchange<alltoallv_call, true>(
      communicator,
      "Sends a block from every rank to every rank. Collective. Rank s sends send_counts[r] elements, from element "
      "send_displs[r] of send, to rank r, which stores them from element recv_displs[s] of recv (displacements by "
      "default: one block after the other). With send=IN_PLACE data and counts are those of recv. Returns recv. Raises "
      "Error as bcast.");
  define_reduce_scatter(communicator);
}

}  // namespace tutti::python
