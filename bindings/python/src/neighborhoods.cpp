// SPDX-License-Identifier: BSD-3-Clause
// Neighborhood collectives, on communicators made of an MPI communicator with a topology.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <tutti/collectives/neighborhood.hpp>

#include "calls.hpp"
#include "exchange.hpp"

namespace nb = nanobind;

namespace tutti::python {
namespace {

TUTTI_PYTHON_CALL(neighbor_allgather)
TUTTI_PYTHON_CALL(neighbor_allgatherv)
TUTTI_PYTHON_CALL(neighbor_alltoall)
TUTTI_PYTHON_CALL(neighbor_alltoallv)
TUTTI_PYTHON_CALL(neighbor_alltoallw)

using Use = View::Use;

std::pair<std::vector<int>, std::vector<int>> neighbours(const PythonCommunicator& comm) {
  const Neighborhood found = neighborhood(comm.get());
  return {{found.sources.begin(), found.sources.end()}, {found.destinations.begin(), found.destinations.end()}};
}

template <typename Call>
void define_equal_blocks(CommunicatorClass& communicator, const std::string& description) {
  const auto body = [](auto form) {
    return [form](PythonCommunicator& comm, nb::object send, nb::object recv, const nb::kwargs& options) {
      Held held;
      held.first = View(send, Use::read, "send");
      held.second = View(recv, Use::write, "recv");
      return make_call<Call>(form, comm, held, recv, held.first.input(), Buffer(held.second.output()),
                             options_from(options));
    };
  };
  define_forms<Call>(communicator, {"send: Array, recv: Array", "Array", description}, body, nb::arg("send"),
                     nb::arg("recv"));
}

void define_neighbor_allgatherv(CommunicatorClass& communicator) {
  const auto body = [](auto form) {
    return [form](PythonCommunicator& comm, nb::object send, nb::object recv, nb::object counts, nb::object displs,
                  const nb::kwargs& options) {
      Held held;
      held.first = View(send, Use::read, "send");
      held.second = View(recv, Use::write, "recv");
      const Numbers sizes = numbers_from(counts, "recv_counts");
      return make_call<neighbor_allgatherv_call>(
          form, comm, held, recv, held.first.input(), Buffer(held.second.output()), sizes,
          displacements_from(displs, sizes, "recv_displs"), options_from(options));
    };
  };
  define_forms<neighbor_allgatherv_call>(
      communicator,
      {"send: Array, recv: Array, recv_counts: Numbers, recv_displs: Numbers | None = None", "Array",
       "As neighbor_allgather; recv_counts[i] elements of source i go to element recv_displs[i] of recv."},
      body, nb::arg("send"), nb::arg("recv"), nb::arg("recv_counts"), nb::arg("recv_displs").none() = nb::none());
}

void define_alltoallw(CommunicatorClass& communicator) {
  const auto body = [](auto form) {
    return [form](PythonCommunicator& comm, nb::object send, nb::object recv, const nb::kwargs& options) {
      Held held;
      std::vector<ConstBuffer> sent;
      std::vector<Buffer> received;
      for (const nb::handle block : send) sent.push_back(held.more.emplace_back(block, Use::read, "send").input());
      for (const nb::handle block : recv)
        received.push_back(held.more.emplace_back(block, Use::write, "recv").output());
      return make_call<neighbor_alltoallw_call>(form, comm, held, recv, sent, received, options_from(options));
    };
  };
  define_forms<neighbor_alltoallw_call>(
      communicator,
      {"send: collections.abc.Sequence[Array], recv: collections.abc.Sequence[Array]",
       "collections.abc.Sequence[Array]",
       "As neighbor_alltoall, with an array for each neighbour, of its own size, type and strides: faces of a block of "
       "an array are x[0, :], x[:, -1] and so on. Returns recv."},
      body, nb::arg("send"), nb::arg("recv"));
}

}  // namespace

void bind_neighborhoods(CommunicatorClass& communicator) {
  communicator.def("neighborhood", neighbours,
                   "The ranks that blocks come from, and those that blocks go to, in the order of the blocks: those of "
                   "the topology of the MPI communicator that this one was made of. PROC_NULL is a neighbour that does "
                   "not exist. Raises Error (INVALID_ARGUMENT) without a topology.");
  define_equal_blocks<neighbor_allgather_call>(
      communicator,
      "Sends one array to every destination. Collective. recv: as many elements for each source. Returns "
      "recv. Host memory. Raises Error as bcast.");
  define_equal_blocks<neighbor_alltoall_call>(
      communicator,
      "Sends block i of send to destination i, and stores source i's block as block i of recv. "
      "Collective. Returns recv. Host memory. Raises Error as bcast.");
  define_neighbor_allgatherv(communicator);
  define_exchange<neighbor_alltoallv_call, false>(
      communicator, "As neighbor_alltoall, with counts and displacements for each neighbour, in elements.");
  define_alltoallw(communicator);
}

}  // namespace tutti::python
