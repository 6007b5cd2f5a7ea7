// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/scatterv.hpp>

#include "handles.hpp"

using namespace tutti::c;

namespace {

/// Passes what C gave to one of the three forms.
template <typename Form>
auto call(Form form, tutti_comm_t comm, const void* sendbuf, const size_t* send_counts, const size_t* send_displs,
          void* recvbuf, size_t recv_count, tutti_datatype_t datatype, int root, const tutti_options_t* given) {
  const tutti::Communicator& c = communicator(comm);
  const bool is_root = c.rank() == root;
  const auto counts = per_rank(c, is_root ? send_counts : nullptr);
  const auto displs = per_rank(c, is_root ? send_displs : nullptr);
  return form(c, input(sendbuf, extent(counts, displs), datatype), counts, displs,
              output(recvbuf, recv_count, datatype), root, options(given));
}

}  // namespace

int tutti_scatterv(tutti_comm_t comm, const void* sendbuf, const size_t* send_counts, const size_t* send_displs,
                   void* recvbuf, size_t recv_count, tutti_datatype_t datatype, int root,
                   const tutti_options_t* given) {
  return guard([&] {
    call([](auto&&... arguments) { return tutti::scatterv(std::forward<decltype(arguments)>(arguments)...); }, comm,
         sendbuf, send_counts, send_displs, recvbuf, recv_count, datatype, root, given);
  });
}

int tutti_iscatterv(tutti_comm_t comm, const void* sendbuf, const size_t* send_counts, const size_t* send_displs,
                    void* recvbuf, size_t recv_count, tutti_datatype_t datatype, int root, const tutti_options_t* given,
                    tutti_request_t* request) {
  return guard([&] {
    start(request, [&] {
      return call([](auto&&... arguments) { return tutti::iscatterv(std::forward<decltype(arguments)>(arguments)...); },
                  comm, sendbuf, send_counts, send_displs, recvbuf, recv_count, datatype, root, given);
    });
  });
}

int tutti_scatterv_init(tutti_comm_t comm, const void* sendbuf, const size_t* send_counts, const size_t* send_displs,
                        void* recvbuf, size_t recv_count, tutti_datatype_t datatype, int root,
                        const tutti_options_t* given, tutti_request_t* request) {
  return guard([&] {
    start(request, [&] {
      return call(
          [](auto&&... arguments) { return tutti::scatterv_init(std::forward<decltype(arguments)>(arguments)...); },
          comm, sendbuf, send_counts, send_displs, recvbuf, recv_count, datatype, root, given);
    });
  });
}
