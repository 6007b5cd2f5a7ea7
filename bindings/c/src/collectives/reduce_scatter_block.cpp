// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/reduce_scatter_block.hpp>

#include "handles.hpp"

using namespace tutti::c;

namespace {

/// Passes what C gave to one of the three forms.
template <typename Form>
auto call(Form form, tutti_comm_t comm, const void* sendbuf, void* recvbuf, size_t count, tutti_datatype_t datatype,
          const Operation& operation, const tutti_options_t* given) {
  const tutti::Communicator& c = communicator(comm);
  const std::size_t all = blocks(count, static_cast<std::size_t>(c.size()));
  return form(c, input(sendbuf, all, datatype), output(recvbuf, is_in_place(sendbuf) ? all : count, datatype),
              operation.op, options(given));
}

}  // namespace

int tutti_reduce_scatter_block(tutti_comm_t comm, const void* sendbuf, void* recvbuf, size_t count,
                               tutti_datatype_t datatype, tutti_op_t op, const tutti_options_t* given) {
  return guard([&] {
    const Operation operation = tutti::c::operation(op);
    call(
        [](auto&&... arguments) {
          return tutti::reduce_scatter_block(std::forward<decltype(arguments)>(arguments)...);
        },
        comm, sendbuf, recvbuf, count, datatype, operation, given);
  });
}

int tutti_ireduce_scatter_block(tutti_comm_t comm, const void* sendbuf, void* recvbuf, size_t count,
                                tutti_datatype_t datatype, tutti_op_t op, const tutti_options_t* given,
                                tutti_request_t* request) {
  return guard([&] {
    const Operation operation = tutti::c::operation(op);
    start(request, operation.record, [&] {
      return call(
          [](auto&&... arguments) {
            return tutti::ireduce_scatter_block(std::forward<decltype(arguments)>(arguments)...);
          },
          comm, sendbuf, recvbuf, count, datatype, operation, given);
    });
  });
}

int tutti_reduce_scatter_block_init(tutti_comm_t comm, const void* sendbuf, void* recvbuf, size_t count,
                                    tutti_datatype_t datatype, tutti_op_t op, const tutti_options_t* given,
                                    tutti_request_t* request) {
  return guard([&] {
    const Operation operation = tutti::c::operation(op);
    start(request, operation.record, [&] {
      return call(
          [](auto&&... arguments) {
            return tutti::reduce_scatter_block_init(std::forward<decltype(arguments)>(arguments)...);
          },
          comm, sendbuf, recvbuf, count, datatype, operation, given);
    });
  });
}
