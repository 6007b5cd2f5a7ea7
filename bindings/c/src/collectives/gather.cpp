// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/gather.hpp>

#include "handles.hpp"

using namespace tutti::c;

namespace {

/// Passes what C gave to one of the three forms.
template <typename Form>
auto call(Form form, tutti_comm_t comm, const void* sendbuf, void* recvbuf, size_t count, tutti_datatype_t datatype,
          int root, const tutti_options_t* given) {
  const tutti::Communicator& c = communicator(comm);
  const std::size_t all = blocks(count, static_cast<std::size_t>(c.size()));
  return form(c, input(sendbuf, count, datatype), output(recvbuf, all, datatype), root, options(given));
}

}  // namespace

int tutti_gather(tutti_comm_t comm, const void* sendbuf, void* recvbuf, size_t count, tutti_datatype_t datatype,
                 int root, const tutti_options_t* given) {
  return guard([&] {
    call([](auto&&... arguments) { return tutti::gather(std::forward<decltype(arguments)>(arguments)...); }, comm,
         sendbuf, recvbuf, count, datatype, root, given);
  });
}

int tutti_igather(tutti_comm_t comm, const void* sendbuf, void* recvbuf, size_t count, tutti_datatype_t datatype,
                  int root, const tutti_options_t* given, tutti_request_t* request) {
  return guard([&] {
    start(request, [&] {
      return call([](auto&&... arguments) { return tutti::igather(std::forward<decltype(arguments)>(arguments)...); },
                  comm, sendbuf, recvbuf, count, datatype, root, given);
    });
  });
}

int tutti_gather_init(tutti_comm_t comm, const void* sendbuf, void* recvbuf, size_t count, tutti_datatype_t datatype,
                      int root, const tutti_options_t* given, tutti_request_t* request) {
  return guard([&] {
    start(request, [&] {
      return call(
          [](auto&&... arguments) { return tutti::gather_init(std::forward<decltype(arguments)>(arguments)...); }, comm,
          sendbuf, recvbuf, count, datatype, root, given);
    });
  });
}
