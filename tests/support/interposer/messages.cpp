// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

#include "support/interposer/settings.hpp"

using namespace tutti::test::interposer;

namespace {

void slow_down(int messages) {
  count(Call::message, static_cast<std::uint64_t>(messages));
  wait_ns(settings().message_ns * static_cast<std::uint64_t>(messages));
}

}  // namespace

#define TUTTI_SLOW_SEND(name)                                                                           \
  extern "C" int name(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) { \
    static const auto real = next<decltype(name)>(#name);                                               \
    slow_down(1);                                                                                       \
    return real(data, count, type, to, tag, comm);                                                      \
  }
#define TUTTI_SLOW_ISEND(name)                                                                        \
  extern "C" int name(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, \
                      MPI_Request* request) {                                                         \
    static const auto real = next<decltype(name)>(#name);                                             \
    slow_down(1);                                                                                     \
    return real(data, count, type, to, tag, comm, request);                                           \
  }

TUTTI_SLOW_SEND(MPI_Send)
TUTTI_SLOW_SEND(MPI_Bsend)
TUTTI_SLOW_SEND(MPI_Rsend)
TUTTI_SLOW_SEND(MPI_Ssend)
TUTTI_SLOW_ISEND(MPI_Isend)
TUTTI_SLOW_ISEND(MPI_Ibsend)
TUTTI_SLOW_ISEND(MPI_Irsend)
TUTTI_SLOW_ISEND(MPI_Issend)

extern "C" int MPI_Sendrecv(const void* sent, int sent_count, MPI_Datatype sent_type, int to, int sent_tag, void* taken,
                            int taken_count, MPI_Datatype taken_type, int from, int taken_tag, MPI_Comm comm,
                            MPI_Status* status) {
  static const auto real = next<decltype(MPI_Sendrecv)>("MPI_Sendrecv");
  slow_down(1);
  return real(sent, sent_count, sent_type, to, sent_tag, taken, taken_count, taken_type, from, taken_tag, comm, status);
}

extern "C" int MPI_Start(MPI_Request* request) {
  static const auto real = next<decltype(MPI_Start)>("MPI_Start");
  slow_down(1);
  return real(request);
}

extern "C" int MPI_Startall(int count, MPI_Request* requests) {
  static const auto real = next<decltype(MPI_Startall)>("MPI_Startall");
  slow_down(count);
  return real(count, requests);
}
