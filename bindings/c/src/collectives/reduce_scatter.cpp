// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/reduce_scatter.hpp>

#include "handles.hpp"

using namespace tutti::c;

namespace {

/// Passes what C gave to one of the three forms.
template <typename Form>
auto call(Form form, tutti_comm_t comm, const void* sendbuf, void* recvbuf, const size_t* recv_counts,
          tutti_datatype_t datatype, const Operation& operation, const tutti_options_t* given) {
  const tutti::Communicator& c = communicator(comm);
  const auto counts = per_rank(c, recv_counts);
  const std::size_t mine =
      is_in_place(sendbuf) || counts.empty() ? total(counts) : counts[static_cast<std::size_t>(c.rank())];
  return form(c, input(sendbuf, total(counts), datatype), output(recvbuf, mine, datatype), counts, operation.op,
              options(given));
}

}  // namespace

int tutti_reduce_scatter(tutti_comm_t comm, const void* sendbuf, void* recvbuf, const size_t* recv_counts,
                         tutti_datatype_t datatype, tutti_op_t op, const tutti_options_t* given) {
  return guard([&] {
    const Operation operation = tutti::c::operation(op);
    call([](auto&&... arguments) { return tutti::reduce_scatter(std::forward<decltype(arguments)>(arguments)...); },
         comm, sendbuf, recvbuf, recv_counts, datatype, operation, given);
  });
}

int tutti_ireduce_scatter(tutti_comm_t comm, const void* sendbuf, void* recvbuf, const size_t* recv_counts,
                          tutti_datatype_t datatype, tutti_op_t op, const tutti_options_t* given,
                          tutti_request_t* request) {
  return guard([&] {
    const Operation operation = tutti::c::operation(op);
    start(request, operation.record, [&] {
      return call(
          [](auto&&... arguments) { return tutti::ireduce_scatter(std::forward<decltype(arguments)>(arguments)...); },
          comm, sendbuf, recvbuf, recv_counts, datatype, operation, given);
    });
  });
}

int tutti_reduce_scatter_init(tutti_comm_t comm, const void* sendbuf, void* recvbuf, const size_t* recv_counts,
                              tutti_datatype_t datatype, tutti_op_t op, const tutti_options_t* given,
                              tutti_request_t* request) {
  return guard([&] {
    const Operation operation = tutti::c::operation(op);
    start(request, operation.record, [&] {
      return call(
          [](auto&&... arguments) {
            return tutti::reduce_scatter_init(std::forward<decltype(arguments)>(arguments)...);
          },
          comm, sendbuf, recvbuf, recv_counts, datatype, operation, given);
    });
  });
}
