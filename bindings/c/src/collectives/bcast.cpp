// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/bcast.hpp>

#include "handles.hpp"

using namespace tutti::c;

namespace {

/// Passes what C gave to one of the three forms.
template <typename Form>
auto call(Form form, tutti_comm_t comm, void* buffer, size_t count, tutti_datatype_t datatype, int root,
          const tutti_options_t* given) {
  const tutti::Communicator& c = communicator(comm);
  return form(c, output(buffer, count, datatype), root, options(given));
}

}  // namespace

int tutti_bcast(tutti_comm_t comm, void* buffer, size_t count, tutti_datatype_t datatype, int root,
                const tutti_options_t* given) {
  return guard([&] {
    call([](auto&&... arguments) { return tutti::bcast(std::forward<decltype(arguments)>(arguments)...); }, comm,
         buffer, count, datatype, root, given);
  });
}

int tutti_ibcast(tutti_comm_t comm, void* buffer, size_t count, tutti_datatype_t datatype, int root,
                 const tutti_options_t* given, tutti_request_t* request) {
  return guard([&] {
    start(request, [&] {
      return call([](auto&&... arguments) { return tutti::ibcast(std::forward<decltype(arguments)>(arguments)...); },
                  comm, buffer, count, datatype, root, given);
    });
  });
}

int tutti_bcast_init(tutti_comm_t comm, void* buffer, size_t count, tutti_datatype_t datatype, int root,
                     const tutti_options_t* given, tutti_request_t* request) {
  return guard([&] {
    start(request, [&] {
      return call(
          [](auto&&... arguments) { return tutti::bcast_init(std::forward<decltype(arguments)>(arguments)...); }, comm,
          buffer, count, datatype, root, given);
    });
  });
}
