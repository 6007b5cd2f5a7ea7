// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/allreduce.hpp>

#include "handles.hpp"

using namespace tutti::c;

namespace {

/// Passes what C gave to one of the three forms.
template <typename Form>
auto call(Form form, tutti_comm_t comm, const void* sendbuf, void* recvbuf, size_t count, tutti_datatype_t datatype,
          const Operation& operation, const tutti_options_t* given) {
  const tutti::Communicator& c = communicator(comm);
  return form(c, input(sendbuf, count, datatype), output(recvbuf, count, datatype), operation.op, options(given));
}

}  // namespace

int tutti_allreduce(tutti_comm_t comm, const void* sendbuf, void* recvbuf, size_t count, tutti_datatype_t datatype,
                    tutti_op_t op, const tutti_options_t* given) {
  return guard([&] {
    const Operation operation = tutti::c::operation(op);
    call([](auto&&... arguments) { return tutti::allreduce(std::forward<decltype(arguments)>(arguments)...); }, comm,
         sendbuf, recvbuf, count, datatype, operation, given);
  });
}

int tutti_iallreduce(tutti_comm_t comm, const void* sendbuf, void* recvbuf, size_t count, tutti_datatype_t datatype,
                     tutti_op_t op, const tutti_options_t* given, tutti_request_t* request) {
  return guard([&] {
    const Operation operation = tutti::c::operation(op);
    start(request, operation.record, [&] {
      return call(
          [](auto&&... arguments) { return tutti::iallreduce(std::forward<decltype(arguments)>(arguments)...); }, comm,
          sendbuf, recvbuf, count, datatype, operation, given);
    });
  });
}

int tutti_allreduce_init(tutti_comm_t comm, const void* sendbuf, void* recvbuf, size_t count, tutti_datatype_t datatype,
                         tutti_op_t op, const tutti_options_t* given, tutti_request_t* request) {
  return guard([&] {
    const Operation operation = tutti::c::operation(op);
    start(request, operation.record, [&] {
      return call(
          [](auto&&... arguments) { return tutti::allreduce_init(std::forward<decltype(arguments)>(arguments)...); },
          comm, sendbuf, recvbuf, count, datatype, operation, given);
    });
  });
}
