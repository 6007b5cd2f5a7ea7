// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/point_to_point.hpp>

#include "calls.hpp"
#include "element_types.hpp"

namespace nb = nanobind;

namespace tutti::python {
namespace {

using Use = View::Use;

#define TUTTI_OPTIONS "**options: Unpack[Options]"

void send_now(PythonCommunicator& comm, nb::handle buffer, int dest, int tag, const nb::kwargs& options) {
  Held held;
  held.first = View(buffer, Use::read, "buffer");
  const Options chosen = options_from(options);
  comm.run(held, [&] { send(comm.get(), held.first.input(), dest, tag, chosen); });
}

Status receive_now(PythonCommunicator& comm, nb::handle buffer, int source, int tag, const nb::kwargs& options) {
  Held held;
  held.first = View(buffer, Use::write, "buffer");
  const Options chosen = options_from(options);
  return comm.run(held, [&] { return recv(comm.get(), held.first.output(), source, tag, chosen); });
}

Status exchange(PythonCommunicator& comm, nb::handle send_buffer, int dest, nb::handle recv_buffer, int source,
                int send_tag, int recv_tag, const nb::kwargs& options) {
  Held held;
  held.first = View(send_buffer, Use::read, "send_buffer");
  held.second = View(recv_buffer, Use::write, "recv_buffer");
  const Options chosen = options_from(options);
  return comm.run(held, [&] {
    return sendrecv(comm.get(), held.first.input(), dest, send_tag, held.second.output(), source, recv_tag, chosen);
  });
}

using SendStart = Request (*)(const Communicator&, ConstBuffer, int, int, const Options&);
using ReceiveStart = Request (*)(const Communicator&, Buffer, int, int, const Options&);

template <SendStart function>
nb::object start_send(PythonCommunicator& comm, nb::handle buffer, int dest, int tag, const nb::kwargs& options) {
  Held held;
  held.first = View(buffer, Use::read, "buffer");
  const Options chosen = options_from(options);
  Request request = comm.run(held, [&] { return function(comm.get(), held.first.input(), dest, tag, chosen); });
  return nb::cast(new PythonRequest(std::move(request), std::move(held), nb::none()), nb::rv_policy::take_ownership);
}

template <ReceiveStart function>
nb::object start_receive(PythonCommunicator& comm, nb::handle buffer, int source, int tag, const nb::kwargs& options) {
  Held held;
  held.first = View(buffer, Use::write, "buffer");
  const Options chosen = options_from(options);
  Request request = comm.run(held, [&] { return function(comm.get(), held.first.output(), source, tag, chosen); });
  return nb::cast(new PythonRequest(std::move(request), std::move(held), nb::none(), true),
                  nb::rv_policy::take_ownership);
}

Datatype type_from(nb::handle dtype) {
  nb::object name = nb::getattr(dtype, "name", nb::none());
  if (name.is_none()) name = nb::getattr(dtype, "__name__", nb::str(dtype));
  return type_of_name(nb::str(name).c_str());
}

Status probe_now(PythonCommunicator& comm, nb::handle dtype, int source, int tag, const nb::kwargs& options) {
  const Datatype type = type_from(dtype);
  const Options chosen = options_from(options);
  return comm.run([&] { return probe(comm.get(), type, source, tag, chosen); });
}

nb::object probe_at_once(PythonCommunicator& comm, nb::handle dtype, int source, int tag) {
  const Datatype type = type_from(dtype);
  const auto status = comm.run([&] { return iprobe(comm.get(), type, source, tag); });
  return status ? nb::cast(*status) : nb::none();
}

template <typename Function>
void define_send(CommunicatorClass& communicator, const char* name, Function function, const char* returns,
                 const char* text) {
  const std::string signature =
      std::string("def ") + name + "(self, buffer: Array, dest: int, tag: int = 0, " TUTTI_OPTIONS ") -> " + returns;
  communicator.def(name, function, nb::arg("buffer"), nb::arg("dest"), nb::arg("tag") = 0, nb::arg("options"),
                   nb::sig(signature.c_str()), text);
}

template <typename Function>
void define_receive(CommunicatorClass& communicator, const char* name, Function function, const char* returns,
                    const char* text) {
  const std::string signature = std::string("def ") + name +
                                "(self, buffer: Array, source: int = -30101, tag: int = 0, " TUTTI_OPTIONS ") -> " +
                                returns;
  communicator.def(name, function, nb::arg("buffer"), nb::arg("source") = any_source, nb::arg("tag") = 0,
                   nb::arg("options"), nb::sig(signature.c_str()), text);
}

}  // namespace

void bind_point_to_point(CommunicatorClass& communicator) {
  define_send(communicator, "send", send_now, "None",
              "Sends an array, or a part with strides, to rank dest. Tags are 0 to 32767. Blocking; not collective. "
              "Raises Error: INVALID_ARGUMENT, TIMEOUT, ABORTED, MPI.");
  define_send(communicator, "isend", start_send<isend>, "Request", "Nonblocking form of send.");
  define_send(communicator, "send_init", start_send<send_init>, "Request", "Persistent form of send.");
  define_receive(communicator, "recv", receive_now, "Status",
                 "Receives a message of at most the array's size from rank source, or ANY_SOURCE. Blocking; not "
                 "collective. Raises Error as send, and TRUNCATED for a longer message.");
  define_receive(communicator, "irecv", start_receive<irecv>, "Request", "Nonblocking form of recv.");
  define_receive(communicator, "recv_init", start_receive<recv_init>, "Request", "Persistent form of recv.");
  communicator.def("sendrecv", exchange, nb::arg("send_buffer"), nb::arg("dest"), nb::arg("recv_buffer"),
                   nb::arg("source"), nb::arg("send_tag") = 0, nb::arg("recv_tag") = 0, nb::arg("options"),
                   nb::sig("def sendrecv(self, send_buffer: Array, dest: int, recv_buffer: Array, source: int, "
                           "send_tag: int = 0, recv_tag: int = 0, " TUTTI_OPTIONS ") -> Status"),
                   "Sends and receives at once, so that no order of calls can deadlock. Blocking; not collective. "
                   "Raises Error as recv.");
  communicator.def(
      "probe", probe_now, nb::arg("dtype"), nb::arg("source") = any_source, nb::arg("tag") = 0, nb::arg("options"),
      nb::sig("def probe(self, dtype: typing.Any, source: int = -30101, tag: int = 0, " TUTTI_OPTIONS ") -> Status"),
      "Waits for a message without receiving it; the Status has its length in elements of dtype.");
  communicator.def("iprobe", probe_at_once, nb::arg("dtype"), nb::arg("source") = any_source, nb::arg("tag") = 0,
                   nb::sig("def iprobe(self, dtype: typing.Any, source: int = -30101, tag: int = 0) -> Status | None"),
                   "Looks for a message without receiving it; None if none is here. Never blocks.");
}

}  // namespace tutti::python
