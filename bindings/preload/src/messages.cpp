// SPDX-License-Identifier: BSD-3-Clause
// The program's messages, which the MPI moves. Under TUTTI_CHECK or TUTTI_WATCHDOG they are recorded.
#include <mpi.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "host.hpp"
#include "waiting.hpp"
#include "watch/call.hpp"
#include "watch/completion.hpp"
#include "watch/message_types.hpp"
#include "watch/requests.hpp"
#include "watch/shadow.hpp"

namespace tutti::preload {
namespace {

using tutti::detail::flight::Call;

/// A side of a message.
struct End {
  Call call;
  const void* data;
  MPI_Count count;
  MPI_Datatype type;
  int peer;
  int tag;
};

/// What tells the ranks of a side: describes a send, or posts a receive and returns its number. Empty without
/// TUTTI_CHECK, and for probes.
std::function<std::uint64_t()> teller(const WatchedCall& call, const End& end) {
  const bool is_send = end.call == Call::send;
  const auto content = is_checked() && call.comm() ? content_of(end.type, is_send ? end.count : 1) : std::nullopt;
  if (!content || end.peer == MPI_PROC_NULL || end.call == Call::probe) return {};
  return [comm = call.comm(), place = call.place(), end, is_send, content = *content]() -> std::uint64_t {
    if (!is_send) return message_types().post(*comm, end.peer, end.tag, content, place);
    message_types().send(*comm, end.peer, end.tag, content, place);
    return 0;
  };
}

std::uint64_t tell(const WatchedCall& call, const End& end) {
  const auto teller_of_end = teller(call, end);
  return teller_of_end ? teller_of_end() : 0;
}

/// Tells the receiver of a send that it may not come.
std::function<void()> withdrawal(const WatchedCall& call, const End& end) {
  if (!is_checked() || !call.comm() || end.call != Call::send) return {};
  return [comm = call.comm(), to = end.peer] { message_types().withdraw(*comm, to); };
}

/// The memory of a side; none without TUTTI_CHECK.
Spans memory_of(const End& end) { return is_checked() ? detail::spans_of(end.data, end.type, end.count) : Spans{}; }

/// The program's status, or one of its own where the program takes none.
MPI_Status* taken(MPI_Status* status, MPI_Status& own) { return status == MPI_STATUS_IGNORE ? &own : status; }

/// A send or a probe.
template <typename Pass>
int send(const End& end, MPI_Comm comm, const Pass& pass) {
  if (!is_watched() || end.peer == MPI_PROC_NULL) return pass();
  if (const int code = check_overlap(comm, memory_of(end), {}); code != MPI_SUCCESS) return code;
  const WatchedCall recorded(end.call, Form::blocking, comm, end.peer, end.tag, end.type, end.count);
  (void)tell(recorded, end);
  return pass();
}

/// sent: null, or the other side of a sendrecv. pass(status): the MPI's call.
template <typename Pass>
int receive(const End& end, const End* sent, MPI_Comm comm, MPI_Status* status, const Pass& pass) {
  if (!is_watched() || (end.peer == MPI_PROC_NULL && sent == nullptr)) return pass(status);
  const bool is_replaced = sent != nullptr && sent->data == end.data;
  const Spans read = sent == nullptr || is_replaced ? Spans{} : memory_of(*sent);
  if (const int code = check_overlap(comm, read, memory_of(end)); code != MPI_SUCCESS) return code;
  const Call call = sent == nullptr ? end.call : Call::sendrecv;
  const WatchedCall recorded(call, Form::blocking, comm, end.peer, end.tag, end.type, end.count);
  if (sent != nullptr) (void)tell(recorded, *sent);
  const std::uint64_t number = tell(recorded, end);
  if (number == 0) return pass(status);
  MPI_Status own;
  MPI_Status* const used = taken(status, own);
  const int code = pass(used);
  watched_requests().end_freed();
  if (code == MPI_SUCCESS) return check_received(number, *used);
  message_types().drop(number);
  return code;
}

/// form: nonblocking or init. pass(other): the MPI's call, with other memory for its receive buffer.
template <typename Pass>
int requested(const End& end, Form form, MPI_Comm comm, MPI_Request* request, const Pass& pass) {
  if (!is_watched() || end.peer == MPI_PROC_NULL) return pass(OtherMemory{});
  RequestedCall call;
  (end.call == Call::send ? call.sent : call.received) = memory_of(end);
  if (form != Form::init)
    if (const int code = check_overlap(comm, call.sent, call.received); code != MPI_SUCCESS) return code;
  WatchedCall recorded(end.call, form, comm, end.peer, end.tag, end.type, end.count);
  const auto tells = teller(recorded, end);
  const std::uint64_t number = tells && form == Form::nonblocking ? tells() : 0;
  if (end.call != Call::send) call.shadow = shadow_of(call.received, form);
  const int code = pass(OtherMemory(call.shadow.get()));
  if (code == MPI_SUCCESS && request != nullptr) {
    call.receive = number;
    call.tell = tells;
    call.withdraw = withdrawal(recorded, end);
    recorded.hand_over(*request, std::move(call));
  } else if (number != 0) {
    message_types().drop(number);
  }
  return code;
}

/// A message that MPI_Mprobe or MPI_Improbe has matched.
int matched(int code, bool is_matched, MPI_Comm comm, const MPI_Status& status) {
  if (code != MPI_SUCCESS || !is_matched || !is_checked() || status.MPI_SOURCE == MPI_PROC_NULL) return code;
  if (const auto known = communicators().find(comm)) message_types().take(*known, status);
  return code;
}

/// TUTTI_CHECK=2 makes sends wait for their receives, so that none rests on buffers of the MPI.
bool is_synchronous() { return is_watched() && check_level() >= 2; }

}  // namespace
}  // namespace tutti::preload

using namespace tutti::preload;

#define TUTTI_MPI_SEND(Name, name, Actual, actual, Suffix, N)                                            \
  int MPI_##Name##Suffix(const void* data, N count, MPI_Datatype type, int to, int tag, MPI_Comm comm) { \
    const auto wait = [&] {                                                                              \
      return is_synchronous() ? PMPI_##Actual##Suffix(data, count, type, to, tag, comm)                  \
                              : PMPI_##Name##Suffix(data, count, type, to, tag, comm);                   \
    };                                                                                                   \
    const auto begin = [&](MPI_Request* request) {                                                       \
      return is_synchronous() ? PMPI_I##actual##Suffix(data, count, type, to, tag, comm, request)        \
                              : PMPI_I##name##Suffix(data, count, type, to, tag, comm, request);         \
    };                                                                                                   \
    return send({Call::send, data, count, type, to, tag}, comm,                                          \
                [&] { return wait_or_request(MPI_STATUS_IGNORE, wait, begin); });                        \
  }
#define TUTTI_MPI_ISEND(Name, Actual, Suffix, N, FORM)                                                        \
  int MPI_##Name##Suffix(const void* data, N count, MPI_Datatype type, int to, int tag, MPI_Comm comm,        \
                         MPI_Request* request) {                                                              \
    return requested({Call::send, data, count, type, to, tag}, FORM, comm, request, [&](const OtherMemory&) { \
      return is_synchronous() ? PMPI_##Actual##Suffix(data, count, type, to, tag, comm, request)              \
                              : PMPI_##Name##Suffix(data, count, type, to, tag, comm, request);               \
    });                                                                                                       \
  }
#define TUTTI_MPI_RECV(Name, Suffix, N, FORM)                                                                         \
  int MPI_##Name##Suffix(void* data, N count, MPI_Datatype type, int from, int tag, MPI_Comm comm,                    \
                         MPI_Request* request) {                                                                      \
    return requested({Call::recv, data, count, type, from, tag}, FORM, comm, request, [&](const OtherMemory& other) { \
      const auto make = [&](auto... all) { return PMPI_##Name##Suffix(all..., comm, request); };                      \
      return other.pass(make, data, count, type, from, tag);                                                          \
    });                                                                                                               \
  }
#if TUTTI_MPI_HAS_LARGE_COUNTS
#define TUTTI_MPI_REPLACE(Suffix, used, wait, ...) \
  wait_or_request(used, wait,                      \
                  [&](MPI_Request* request) { return PMPI_Isendrecv_replace##Suffix(__VA_ARGS__, request); })
#else  // no nonblocking form
#define TUTTI_MPI_REPLACE(Suffix, used, wait, ...) wait()
#endif
#define TUTTI_MPI_MESSAGES(Suffix, N)                                                                                  \
  TUTTI_MPI_SEND(Send, send, Ssend, ssend, Suffix, N)                                                                  \
  TUTTI_MPI_SEND(Ssend, ssend, Ssend, ssend, Suffix, N)                                                                \
  TUTTI_MPI_SEND(Rsend, rsend, Ssend, ssend, Suffix, N)                                                                \
  TUTTI_MPI_SEND(Bsend, bsend, Bsend, bsend, Suffix, N)                                                                \
  TUTTI_MPI_ISEND(Isend, Issend, Suffix, N, Form::nonblocking)                                                         \
  TUTTI_MPI_ISEND(Issend, Issend, Suffix, N, Form::nonblocking)                                                        \
  TUTTI_MPI_ISEND(Irsend, Issend, Suffix, N, Form::nonblocking)                                                        \
  TUTTI_MPI_ISEND(Ibsend, Ibsend, Suffix, N, Form::nonblocking)                                                        \
  TUTTI_MPI_ISEND(Send_init, Ssend_init, Suffix, N, Form::init)                                                        \
  TUTTI_MPI_ISEND(Ssend_init, Ssend_init, Suffix, N, Form::init)                                                       \
  TUTTI_MPI_ISEND(Rsend_init, Ssend_init, Suffix, N, Form::init)                                                       \
  TUTTI_MPI_ISEND(Bsend_init, Bsend_init, Suffix, N, Form::init)                                                       \
  TUTTI_MPI_RECV(Irecv, Suffix, N, Form::nonblocking)                                                                  \
  TUTTI_MPI_RECV(Recv_init, Suffix, N, Form::init)                                                                     \
  int MPI_Recv##Suffix(void* data, N count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) { \
    return receive({Call::recv, data, count, type, from, tag}, nullptr, comm, status, [&](MPI_Status* used) {          \
      return wait_or_request(                                                                                          \
          used, [&] { return PMPI_Recv##Suffix(data, count, type, from, tag, comm, used); },                           \
          [&](MPI_Request* request) { return PMPI_Irecv##Suffix(data, count, type, from, tag, comm, request); });      \
    });                                                                                                                \
  }                                                                                                                    \
  int MPI_Sendrecv##Suffix(const void* data, N count, MPI_Datatype type, int to, int tag, void* received,              \
                           N received_count, MPI_Datatype received_type, int from, int received_tag, MPI_Comm comm,    \
                           MPI_Status* status) {                                                                       \
    const End sent{Call::send, data, count, type, to, tag};                                                            \
    const End awaited{Call::recv, received, received_count, received_type, from, received_tag};                        \
    return receive(awaited, &sent, comm, status, [&](MPI_Status* used) {                                               \
      return wait_or_requests(                                                                                         \
          used,                                                                                                        \
          [&] {                                                                                                        \
            return PMPI_Sendrecv##Suffix(data, count, type, to, tag, received, received_count, received_type, from,    \
                                         received_tag, comm, used);                                                    \
          },                                                                                                           \
          [&](MPI_Request* request) {                                                                                  \
            return PMPI_Irecv##Suffix(received, received_count, received_type, from, received_tag, comm, request);     \
          },                                                                                                           \
          [&](MPI_Request* request) { return PMPI_Isend##Suffix(data, count, type, to, tag, comm, request); });        \
    });                                                                                                                \
  }                                                                                                                    \
  int MPI_Sendrecv_replace##Suffix(void* data, N count, MPI_Datatype type, int to, int tag, int from,                  \
                                   int received_tag, MPI_Comm comm, MPI_Status* status) {                              \
    const End sent{Call::send, data, count, type, to, tag};                                                            \
    const End awaited{Call::recv, data, count, type, from, received_tag};                                              \
    return receive(awaited, &sent, comm, status, [&](MPI_Status* used) {                                               \
      const auto wait = [&] {                                                                                          \
        return PMPI_Sendrecv_replace##Suffix(data, count, type, to, tag, from, received_tag, comm, used);              \
      };                                                                                                               \
      return TUTTI_MPI_REPLACE(Suffix, used, wait, data, count, type, to, tag, from, received_tag, comm);              \
    });                                                                                                                \
  }

extern "C" {

TUTTI_MPI_MESSAGES(, int)
#if TUTTI_MPI_HAS_LARGE_COUNTS
TUTTI_MPI_MESSAGES(_c, MPI_Count)
#endif

int MPI_Probe(int from, int tag, MPI_Comm comm, MPI_Status* status) {
  return send({Call::probe, nullptr, 0, MPI_DATATYPE_NULL, from, tag}, comm, [&] {
    return wait_or_steps([&] { return PMPI_Probe(from, tag, comm, status); },
                         [&](int& found) { return PMPI_Iprobe(from, tag, comm, &found, status); });
  });
}

int MPI_Mprobe(int from, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  MPI_Status own;
  MPI_Status* const used = taken(status, own);
  return send({Call::probe, nullptr, 0, MPI_DATATYPE_NULL, from, tag}, comm, [&] {
    const int code = wait_or_steps([&] { return PMPI_Mprobe(from, tag, comm, message, used); },
                                   [&](int& found) { return PMPI_Improbe(from, tag, comm, &found, message, used); });
    return matched(code, true, comm, *used);
  });
}

int MPI_Improbe(int from, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status) {
  MPI_Status own;
  MPI_Status* const used = taken(status, own);
  step();
  const int code = PMPI_Improbe(from, tag, comm, flag, message, used);
  return matched(code, code == MPI_SUCCESS && *flag != 0, comm, *used);
}

int MPI_Iprobe(int from, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  step();
  return PMPI_Iprobe(from, tag, comm, flag, status);
}

#define TUTTI_MPI_MRECV(Suffix, N)                                                                          \
  int MPI_Mrecv##Suffix(void* data, N count, MPI_Datatype type, MPI_Message* message, MPI_Status* status) { \
    return wait_or_request(                                                                                 \
        status, [&] { return PMPI_Mrecv##Suffix(data, count, type, message, status); },                     \
        [&](MPI_Request* request) { return PMPI_Imrecv##Suffix(data, count, type, message, request); });    \
  }
TUTTI_MPI_MRECV(, int)
#if TUTTI_MPI_HAS_LARGE_COUNTS
TUTTI_MPI_MRECV(_c, MPI_Count)
#endif
}
