// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "calls.hpp"

namespace tutti::python {

/// Defines the three forms of an exchange of blocks that have sizes of their own on both sides. in_place: send may be
/// IN_PLACE, without counts.
template <typename Call, bool in_place>
void define_exchange(CommunicatorClass& communicator, const std::string& description) {
  namespace nb = nanobind;
  const auto counts_argument = [] {
    if constexpr (in_place)
      return nb::arg("send_counts").none();
    else
      return nb::arg("send_counts");
  };
  const auto body = [](auto form) {
    return [form](PythonCommunicator& comm, nb::object send, nb::object send_counts, nb::object recv,
                  nb::object recv_counts, nb::object send_displs, nb::object recv_displs, const nb::kwargs& options) {
      Held held;
      held.first = View(send, View::Use::read, "send");
      held.second = View(recv, View::Use::write, "recv");
      const Numbers sent = numbers_from(send_counts, "send_counts");
      const Numbers received = numbers_from(recv_counts, "recv_counts");
      return make_call<Call>(form, comm, held, recv, held.first.input(), sent,
                             displacements_from(send_displs, sent, "send_displs"), Buffer(held.second.output()),
                             received, displacements_from(recv_displs, received, "recv_displs"), options_from(options));
    };
  };
  define_forms<Call>(communicator,
                     {std::string(in_place ? "send: ArrayOrInPlace, send_counts: Numbers | None"
                                           : "send: Array, send_counts: Numbers") +
                          ", recv: Array, recv_counts: Numbers, send_displs: Numbers | None = None, recv_displs: "
                          "Numbers | None = None",
                      "Array", description},
                     body, nb::arg("send"), counts_argument(), nb::arg("recv"), nb::arg("recv_counts"),
                     nb::arg("send_displs").none() = nb::none(), nb::arg("recv_displs").none() = nb::none());
}

}  // namespace tutti::python
