// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/gatherv.hpp>

#include "handles.hpp"

using namespace tutti::c;

namespace {

/// Passes what C gave to one of the three forms.
template <typename Form>
auto call(Form form, tutti_comm_t comm, const void* sendbuf, size_t send_count, void* recvbuf,
          const size_t* recv_counts, const size_t* recv_displs, tutti_datatype_t datatype, int root,
          const tutti_options_t* given) {
  const tutti::Communicator& c = communicator(comm);
  const bool is_root = c.rank() == root;
  const auto counts = per_rank(c, is_root ? recv_counts : nullptr);
  const auto displs = per_rank(c, is_root ? recv_displs : nullptr);
  return form(c, input(sendbuf, send_count, datatype), output(recvbuf, extent(counts, displs), datatype), counts,
              displs, root, options(given));
}

}  // namespace

int tutti_gatherv(tutti_comm_t comm, const void* sendbuf, size_t send_count, void* recvbuf, const size_t* recv_counts,
                  const size_t* recv_displs, tutti_datatype_t datatype, int root, const tutti_options_t* given) {
  return guard([&] {
    call([](auto&&... arguments) { return tutti::gatherv(std::forward<decltype(arguments)>(arguments)...); }, comm,
         sendbuf, send_count, recvbuf, recv_counts, recv_displs, datatype, root, given);
  });
}

int tutti_igatherv(tutti_comm_t comm, const void* sendbuf, size_t send_count, void* recvbuf, const size_t* recv_counts,
                   const size_t* recv_displs, tutti_datatype_t datatype, int root, const tutti_options_t* given,
                   tutti_request_t* request) {
  return guard([&] {
    start(request, [&] {
      return call([](auto&&... arguments) { return tutti::igatherv(std::forward<decltype(arguments)>(arguments)...); },
                  comm, sendbuf, send_count, recvbuf, recv_counts, recv_displs, datatype, root, given);
    });
  });
}

int tutti_gatherv_init(tutti_comm_t comm, const void* sendbuf, size_t send_count, void* recvbuf,
                       const size_t* recv_counts, const size_t* recv_displs, tutti_datatype_t datatype, int root,
                       const tutti_options_t* given, tutti_request_t* request) {
  return guard([&] {
    start(request, [&] {
      return call(
          [](auto&&... arguments) { return tutti::gatherv_init(std::forward<decltype(arguments)>(arguments)...); },
          comm, sendbuf, send_count, recvbuf, recv_counts, recv_displs, datatype, root, given);
    });
  });
}
