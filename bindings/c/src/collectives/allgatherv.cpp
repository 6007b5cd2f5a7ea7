// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/allgatherv.hpp>

#include "handles.hpp"

using namespace tutti::c;

namespace {

/// Passes what C gave to one of the three forms.
template <typename Form>
auto call(Form form, tutti_comm_t comm, const void* sendbuf, size_t send_count, void* recvbuf,
          const size_t* recv_counts, const size_t* recv_displs, tutti_datatype_t datatype,
          const tutti_options_t* given) {
  const tutti::Communicator& c = communicator(comm);
  const auto counts = per_rank(c, recv_counts);
  const auto displs = per_rank(c, recv_displs);
  return form(c, input(sendbuf, send_count, datatype), output(recvbuf, extent(counts, displs), datatype), counts,
              displs, options(given));
}

}  // namespace

int tutti_allgatherv(tutti_comm_t comm, const void* sendbuf, size_t send_count, void* recvbuf,
                     const size_t* recv_counts, const size_t* recv_displs, tutti_datatype_t datatype,
                     const tutti_options_t* given) {
  return guard([&] {
    call([](auto&&... arguments) { return tutti::allgatherv(std::forward<decltype(arguments)>(arguments)...); }, comm,
         sendbuf, send_count, recvbuf, recv_counts, recv_displs, datatype, given);
  });
}

int tutti_iallgatherv(tutti_comm_t comm, const void* sendbuf, size_t send_count, void* recvbuf,
                      const size_t* recv_counts, const size_t* recv_displs, tutti_datatype_t datatype,
                      const tutti_options_t* given, tutti_request_t* request) {
  return guard([&] {
    start(request, [&] {
      return call(
          [](auto&&... arguments) { return tutti::iallgatherv(std::forward<decltype(arguments)>(arguments)...); }, comm,
          sendbuf, send_count, recvbuf, recv_counts, recv_displs, datatype, given);
    });
  });
}

int tutti_allgatherv_init(tutti_comm_t comm, const void* sendbuf, size_t send_count, void* recvbuf,
                          const size_t* recv_counts, const size_t* recv_displs, tutti_datatype_t datatype,
                          const tutti_options_t* given, tutti_request_t* request) {
  return guard([&] {
    start(request, [&] {
      return call(
          [](auto&&... arguments) { return tutti::allgatherv_init(std::forward<decltype(arguments)>(arguments)...); },
          comm, sendbuf, send_count, recvbuf, recv_counts, recv_displs, datatype, given);
    });
  });
}
