// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/alltoallv.hpp>

#include "handles.hpp"

using namespace tutti::c;

namespace {

/// Passes what C gave to one of the three forms.
template <typename Form>
auto call(Form form, tutti_comm_t comm, const void* sendbuf, const size_t* send_counts, const size_t* send_displs,
          void* recvbuf, const size_t* recv_counts, const size_t* recv_displs, tutti_datatype_t datatype,
          const tutti_options_t* given) {
  const tutti::Communicator& c = communicator(comm);
  const auto out_counts = per_rank(c, is_in_place(sendbuf) ? nullptr : send_counts);
  const auto out_displs = per_rank(c, is_in_place(sendbuf) ? nullptr : send_displs);
  const auto in_counts = per_rank(c, recv_counts);
  const auto in_displs = per_rank(c, recv_displs);
  return form(c, input(sendbuf, extent(out_counts, out_displs), datatype), out_counts, out_displs,
              output(recvbuf, extent(in_counts, in_displs), datatype), in_counts, in_displs, options(given));
}

}  // namespace

int tutti_alltoallv(tutti_comm_t comm, const void* sendbuf, const size_t* send_counts, const size_t* send_displs,
                    void* recvbuf, const size_t* recv_counts, const size_t* recv_displs, tutti_datatype_t datatype,
                    const tutti_options_t* given) {
  return guard([&] {
    call([](auto&&... arguments) { return tutti::alltoallv(std::forward<decltype(arguments)>(arguments)...); }, comm,
         sendbuf, send_counts, send_displs, recvbuf, recv_counts, recv_displs, datatype, given);
  });
}

int tutti_ialltoallv(tutti_comm_t comm, const void* sendbuf, const size_t* send_counts, const size_t* send_displs,
                     void* recvbuf, const size_t* recv_counts, const size_t* recv_displs, tutti_datatype_t datatype,
                     const tutti_options_t* given, tutti_request_t* request) {
  return guard([&] {
    start(request, [&] {
      return call(
          [](auto&&... arguments) { return tutti::ialltoallv(std::forward<decltype(arguments)>(arguments)...); }, comm,
          sendbuf, send_counts, send_displs, recvbuf, recv_counts, recv_displs, datatype, given);
    });
  });
}

int tutti_alltoallv_init(tutti_comm_t comm, const void* sendbuf, const size_t* send_counts, const size_t* send_displs,
                         void* recvbuf, const size_t* recv_counts, const size_t* recv_displs, tutti_datatype_t datatype,
                         const tutti_options_t* given, tutti_request_t* request) {
  return guard([&] {
    start(request, [&] {
      return call(
          [](auto&&... arguments) { return tutti::alltoallv_init(std::forward<decltype(arguments)>(arguments)...); },
          comm, sendbuf, send_counts, send_displs, recvbuf, recv_counts, recv_displs, datatype, given);
    });
  });
}
