// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/barrier.hpp>

#include "handles.hpp"

using namespace tutti::c;

namespace {

/// Passes what C gave to one of the three forms.
template <typename Form>
auto call(Form form, tutti_comm_t comm, const tutti_options_t* given) {
  const tutti::Communicator& c = communicator(comm);
  return form(c, options(given));
}

}  // namespace

int tutti_barrier(tutti_comm_t comm, const tutti_options_t* given) {
  return guard([&] {
    call([](auto&&... arguments) { return tutti::barrier(std::forward<decltype(arguments)>(arguments)...); }, comm,
         given);
  });
}

int tutti_ibarrier(tutti_comm_t comm, const tutti_options_t* given, tutti_request_t* request) {
  return guard([&] {
    start(request, [&] {
      return call([](auto&&... arguments) { return tutti::ibarrier(std::forward<decltype(arguments)>(arguments)...); },
                  comm, given);
    });
  });
}

int tutti_barrier_init(tutti_comm_t comm, const tutti_options_t* given, tutti_request_t* request) {
  return guard([&] {
    start(request, [&] {
      return call(
          [](auto&&... arguments) { return tutti::barrier_init(std::forward<decltype(arguments)>(arguments)...); },
          comm, given);
    });
  });
}
