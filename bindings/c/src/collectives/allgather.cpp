// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/allgather.hpp>

#include "handles.hpp"

using namespace tutti::c;

namespace {

/// Passes what C gave to one of the three forms.
template <typename Form>
auto call(Form form, tutti_comm_t comm, const void* sendbuf, void* recvbuf, size_t count, tutti_datatype_t datatype,
          const tutti_options_t* given) {
  const tutti::Communicator& c = communicator(comm);
  const std::size_t all = blocks(count, static_cast<std::size_t>(c.size()));
  return form(c, input(sendbuf, count, datatype), output(recvbuf, all, datatype), options(given));
}

}  // namespace

int tutti_allgather(tutti_comm_t comm, const void* sendbuf, void* recvbuf, size_t count, tutti_datatype_t datatype,
                    const tutti_options_t* given) {
  return guard([&] {
    call([](auto&&... arguments) { return tutti::allgather(std::forward<decltype(arguments)>(arguments)...); }, comm,
         sendbuf, recvbuf, count, datatype, given);
  });
}

int tutti_iallgather(tutti_comm_t comm, const void* sendbuf, void* recvbuf, size_t count, tutti_datatype_t datatype,
                     const tutti_options_t* given, tutti_request_t* request) {
  return guard([&] {
    start(request, [&] {
      return call(
          [](auto&&... arguments) { return tutti::iallgather(std::forward<decltype(arguments)>(arguments)...); }, comm,
          sendbuf, recvbuf, count, datatype, given);
    });
  });
}

int tutti_allgather_init(tutti_comm_t comm, const void* sendbuf, void* recvbuf, size_t count, tutti_datatype_t datatype,
                         const tutti_options_t* given, tutti_request_t* request) {
  return guard([&] {
    start(request, [&] {
      return call(
          [](auto&&... arguments) { return tutti::allgather_init(std::forward<decltype(arguments)>(arguments)...); },
          comm, sendbuf, recvbuf, count, datatype, given);
    });
  });
}
