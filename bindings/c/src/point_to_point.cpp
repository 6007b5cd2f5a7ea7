// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/point_to_point.hpp>

#include "guard.hpp"
#include "handles.hpp"

using namespace tutti::c;

namespace {

tutti::Group& group_of(tutti_group_t group) {
  if (group == nullptr)
    throw_misuse(tutti::ErrorCode::invalid_argument,
                 "argument group is TUTTI_GROUP_NULL; create it with tutti_group_create");
  return record_of(group, "group").group;
}

}  // namespace

int tutti_send(tutti_comm_t comm, const void* buffer, size_t count, tutti_datatype_t type, int dest, int tag,
               const tutti_options_t* given) {
  return guard([&] { tutti::send(communicator(comm), sent(buffer, count, type), dest, tag, GivenOptions(given)); });
}

int tutti_recv(tutti_comm_t comm, void* buffer, size_t count, tutti_datatype_t type, int source, int tag,
               const tutti_options_t* given, tutti_status_t* status) {
  return guard([&] {
    give_status(status,
                tutti::recv(communicator(comm), received(buffer, count, type), source, tag, GivenOptions(given)));
  });
}

int tutti_sendrecv(tutti_comm_t comm, const void* sendbuf, size_t send_count, tutti_datatype_t send_datatype, int dest,
                   int send_tag, void* recvbuf, size_t recv_count, tutti_datatype_t recv_datatype, int source,
                   int recv_tag, const tutti_options_t* given, tutti_status_t* status) {
  return guard([&] {
    give_status(status, tutti::sendrecv(communicator(comm), sent(sendbuf, send_count, send_datatype, "send_datatype"),
                                        dest, send_tag, received(recvbuf, recv_count, recv_datatype, "recv_datatype"),
                                        source, recv_tag, GivenOptions(given)));
  });
}

/// Defines tutti_<word>, which gives the request of tutti::<word> for a buffer made by `side`.
#define TUTTI_MESSAGE(word, side, address, peer)                                                              \
  int tutti_##word(tutti_comm_t comm, address buffer, size_t count, tutti_datatype_t type, int peer, int tag, \
                   const tutti_options_t* given, tutti_request_t* request) {                                  \
    return guard([&] {                                                                                        \
      start(request, [&] {                                                                                    \
        return tutti::word(communicator(comm), side(buffer, count, type), peer, tag, GivenOptions(given));    \
      });                                                                                                     \
    });                                                                                                       \
  }

TUTTI_MESSAGE(isend, sent, const void*, dest)
TUTTI_MESSAGE(send_init, sent, const void*, dest)
TUTTI_MESSAGE(irecv, received, void*, source)
TUTTI_MESSAGE(recv_init, received, void*, source)

int tutti_probe(tutti_comm_t comm, tutti_datatype_t type, int source, int tag, const tutti_options_t* given,
                tutti_status_t* status) {
  return guard(
      [&] { give_status(status, tutti::probe(communicator(comm), datatype(type), source, tag, GivenOptions(given))); });
}

int tutti_iprobe(tutti_comm_t comm, tutti_datatype_t type, int source, int tag, int* found, tutti_status_t* status) {
  return guard([&] {
    output(found, "found") = 0;
    const auto message = tutti::iprobe(communicator(comm), datatype(type), source, tag);
    if (!message) return;
    *found = 1;
    give_status(status, *message);
  });
}

int tutti_group_create(tutti_comm_t comm, const tutti_options_t* given, tutti_group_t* group) {
  return guard([&] {
    output(group, "group") = nullptr;
    *group = make_handle<tutti_group_t>(GroupRecord{tutti::Group(communicator(comm), GivenOptions(given))});
  });
}

int tutti_group_send(tutti_group_t group, const void* buffer, size_t count, tutti_datatype_t type, int dest, int tag) {
  return guard([&] { group_of(group).send(sent(buffer, count, type), dest, tag); });
}

int tutti_group_recv(tutti_group_t group, void* buffer, size_t count, tutti_datatype_t type, int source, int tag) {
  return guard([&] { group_of(group).recv(received(buffer, count, type), source, tag); });
}

int tutti_group_start(tutti_group_t group, tutti_request_t* request) {
  return guard([&] { start(request, [&] { return group_of(group).start(); }); });
}

int tutti_group_run(tutti_group_t group) {
  return guard([&] { group_of(group).run(); });
}

int tutti_group_init(tutti_group_t group, tutti_request_t* request) {
  return guard([&] { start(request, [&] { return group_of(group).init(); }); });
}

int tutti_group_free(tutti_group_t* group) { return free_handle(group, "group"); }
