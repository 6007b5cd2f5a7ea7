// SPDX-License-Identifier: BSD-3-Clause
// Collectives that move data: barrier, bcast, gather, scatter, allgather, alltoall.
#include <tutti/collectives/allgather.hpp>
#include <tutti/collectives/alltoall.hpp>
#include <tutti/collectives/barrier.hpp>
#include <tutti/collectives/bcast.hpp>
#include <tutti/collectives/gather.hpp>
#include <tutti/collectives/scatter.hpp>

#include "calls.hpp"

namespace nb = nanobind;

namespace tutti::python {
namespace {

TUTTI_PYTHON_CALL(barrier)
TUTTI_PYTHON_CALL(bcast)
TUTTI_PYTHON_CALL(gather)
TUTTI_PYTHON_CALL(scatter)
TUTTI_PYTHON_CALL(allgather)
TUTTI_PYTHON_CALL(alltoall)

using Use = View::Use;

void define_barrier(CommunicatorClass& communicator) {
  const auto body = [](auto form) {
    return [form](PythonCommunicator& comm, const nb::kwargs& options) {
      Held held;
      return make_call<barrier_call>(form, comm, held, nb::none(), options_from(options));
    };
  };
  define_forms<barrier_call>(communicator, {"", "None", "Returns on a rank once all ranks have called it. Collective."},
                             body);
}

void define_bcast(CommunicatorClass& communicator) {
  const auto body = [](auto form) {
    return [form](PythonCommunicator& comm, nb::object buffer, int root, const nb::kwargs& options) {
      Held held;
      const bool writes = comm.get().rank() != root;
      held.first = View(buffer, writes ? Use::write : Use::read, "buffer");
      return make_call<bcast_call>(form, comm, held, buffer, Buffer(held.first.output()), root, options_from(options));
    };
  };
  define_forms<bcast_call>(
      communicator,
      {"buffer: Array, root: int = 0", "Array",
       "Copies the root's array to all ranks. Collective. buffer: the same number of elements and type on all ranks, "
       "which only the root reads. Returns buffer. Raises Error: INVALID_ARGUMENT, MISMATCH, TIMEOUT, ABORTED, MPI."},
      body, nb::arg("buffer"), nb::arg("root") = 0);
}

/// Gather and scatter: one of the two arrays counts at the root only.
template <typename Call, bool root_receives>
void define_rooted(CommunicatorClass& communicator, const Texts& texts) {
  const auto body = [](auto form) {
    return [form](PythonCommunicator& comm, nb::object send, nb::object recv, int root, const nb::kwargs& options) {
      Held held;
      if (!send.is_none()) held.first = View(send, Use::read, "send");
      if (!recv.is_none()) held.second = View(recv, Use::write, "recv");
      const bool in_send = recv.is(in_place_object());
      return make_call<Call>(form, comm, held, in_send ? send : recv, held.first.input(), Buffer(held.second.output()),
                             root, options_from(options));
    };
  };
  if constexpr (root_receives)
    define_forms<Call>(communicator, texts, body, nb::arg("send").none(), nb::arg("recv").none() = nb::none(),
                       nb::arg("root") = 0);
  else
    define_forms<Call>(communicator, texts, body, nb::arg("send").none(), nb::arg("recv").none(), nb::arg("root") = 0);
}

template <typename Call>
void define_all_to_all(CommunicatorClass& communicator, const Texts& texts) {
  const auto body = [](auto form) {
    return [form](PythonCommunicator& comm, nb::object send, nb::object recv, const nb::kwargs& options) {
      Held held;
      const bool in_place_form = recv.is_none();
      held.first = View(in_place_form ? in_place_object() : nb::handle(send), Use::read, "send");
      held.second = View(in_place_form ? send : recv, Use::write, in_place_form ? "send" : "recv");
      return make_call<Call>(form, comm, held, in_place_form ? send : recv, held.first.input(),
                             Buffer(held.second.output()), options_from(options));
    };
  };
  define_forms<Call>(communicator, texts, body, nb::arg("send"), nb::arg("recv").none() = nb::none());
}

}  // namespace

void bind_movements(CommunicatorClass& communicator) {
  define_barrier(communicator);
  define_bcast(communicator);
  define_rooted<gather_call, true>(
      communicator,
      {"send: ArrayOrInPlace, recv: Array | None = None, root: int = 0", "Array | None",
       "Gathers one block from every rank at the root, in rank order. Collective. send: n elements; recv at the root: "
       "n "
       "times the number of ranks; other ranks pass None. With send=IN_PLACE at the root its block is already in its "
       "place. Returns recv. Raises Error as bcast."});
  define_rooted<scatter_call, false>(
      communicator,
      {"send: Array | None, recv: ArrayOrInPlace, root: int = 0", "Array | None",
       "Gives rank r block r of the root's array. Collective. recv: n elements; send at the root: n times the number "
       "of "
       "ranks; other ranks pass None. With recv=IN_PLACE at the root its block stays in send. Returns recv. Raises "
       "Error as bcast."});
  define_all_to_all<allgather_call>(
      communicator,
      {"send: ArrayOrInPlace, recv: Array | None = None", "Array",
       "Gathers one block from every rank, in rank order, and gives all ranks the result. Collective. send: n "
       "elements; "
       "recv: n times the number of ranks. In place (recv=None, or send=IN_PLACE): the array has all blocks, this "
       "rank's in its place. Returns the array that was written. Raises Error as bcast."});
  define_all_to_all<alltoall_call>(
      communicator,
      {"send: ArrayOrInPlace, recv: Array | None = None", "Array",
       "Sends block r of every rank's array to rank r, which receives the blocks in rank order. Collective. send, "
       "recv: "
       "n times the number of ranks elements. In place (recv=None, or send=IN_PLACE): the blocks are replaced. Returns "
       "the array that was written. Raises Error as bcast."});
}

}  // namespace tutti::python
