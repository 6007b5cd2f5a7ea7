// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tutti/error.hpp>
#include <tutti/point_to_point.hpp>

#include "backends/point_to_point.hpp"
#include "call/check.hpp"
#include "call/progress.hpp"
#include "collectives/call.hpp"
#include "collectives/observers.hpp"
#include "collectives/transfers.hpp"

namespace tutti {
namespace detail {
namespace {

constexpr int largest_tag = 32767;

[[noreturn]] void refuse(const Context& comm, std::string_view call, std::string_view problem) {
  throw Error(ErrorCode::invalid_argument, fmt::format("{}, {}: argument {}", call, comm.describe(), problem));
}

void require(bool condition, const Context& comm, std::string_view call, const char* problem) {
  if (!condition) [[unlikely]]
    refuse(comm, call, problem);
}

/// A peer and a tag as the host MPI names them: its own constants are taken as they are.
int mpi_peer(int peer) {
  if (peer == proc_null) return MPI_PROC_NULL;
  return peer == any_source ? MPI_ANY_SOURCE : peer;
}
int mpi_tag(int tag) { return tag == any_tag ? MPI_ANY_TAG : tag; }

[[noreturn]] void refuse_peer(const Context& comm, std::string_view call, int peer, const char* name) {
  refuse(comm, call, fmt::format("{} is {}; pass a rank from 0 to {} or proc_null", name, peer, comm.size - 1));
}

inline void check_peer(const Context& comm, std::string_view call, int peer, bool wildcard, const char* name) {
  const int given = mpi_peer(peer);
  const bool is_valid =
      (given >= 0 && given < comm.size) || given == MPI_PROC_NULL || (wildcard && given == MPI_ANY_SOURCE);
  if (!is_valid) [[unlikely]]
    refuse_peer(comm, call, peer, name);
}

[[noreturn]] void refuse_tag(const Context& comm, std::string_view call, int tag) {
  refuse(comm, call, fmt::format("tag is {}; pass a number from 0 to {}", tag, largest_tag));
}

inline void check_tag(const Context& comm, std::string_view call, int tag, bool wildcard) {
  const bool is_valid = (tag >= 0 && tag <= largest_tag) || (wildcard && mpi_tag(tag) == MPI_ANY_TAG);
  if (!is_valid) [[unlikely]]
    refuse_tag(comm, call, tag);
}

[[noreturn]] void refuse_type(const Context& comm, std::string_view call) {
  throw Error(ErrorCode::invalid_datatype,
              fmt::format("{}, {}: the datatype is not one of the library's; use a DatatypeKind or Datatype::bytes(n), "
                          "n > 0",
                          call, comm.describe()));
}

inline void check_type(const Context& comm, std::string_view call, Datatype type) {
  if (!is_datatype(type)) [[unlikely]]
    refuse_type(comm, call);
}

template <typename AnyBuffer>
void check_message(const Context& comm, std::string_view call, const AnyBuffer& buffer, int tag, bool wildcard) {
  check_type(comm, call, buffer.type);
  require(!buffer.is_in_place && buffer.data != MPI_IN_PLACE, comm, call, "buffer is in_place; pass a buffer");
  require(buffer.data != nullptr || buffer.count == 0, comm, call,
          "buffer is a null pointer but has elements; pass its address");
  require(fits_address_space(buffer.count, buffer.type), comm, call,
          "buffer is larger than the address space; pass the count in elements");
  check_tag(comm, call, tag, wildcard);
}

[[noreturn]] void refuse_device(const Context& comm, std::string_view call) {
  throw Error(ErrorCode::not_built, fmt::format("{}, {}: argument buffer is in device memory, and {}", call,
                                                comm.describe(), device::no_runtime_text));
}

/// Returns true if the buffer is in device memory.
template <typename AnyBuffer>
bool is_on_device(const Context& comm, std::string_view call, const AnyBuffer& buffer, MemoryKind declared) {
  if (!is_of_device(buffer.memory, declared, buffer.data)) return false;
  if (device::runtime() == nullptr) refuse_device(comm, call);
  return true;
}

[[noreturn]] void refuse_layout(const Context& comm, std::string_view call) {
  throw Error(ErrorCode::not_supported,
              fmt::format("{}, {}: argument buffer has a layout and is in device memory, where layouts are not packed; "
                          "pack it by a kernel of your own, and pass contiguous memory",
                          call, comm.describe()));
}

/// The part of a transfer that both directions share.
template <typename AnyBuffer>
PointToPoint described(const Context& comm, std::string_view call, const AnyBuffer& buffer, MemoryKind declared,
                       int peer, int tag) {
  PointToPoint transfer;
  transfer.type = buffer.type;
  transfer.bytes = buffer.count * buffer.type.size();
  transfer.peer = peer;
  transfer.tag = tag;
  transfer.on_device =
      is_on_device(comm, call, buffer, declared) && transfer.bytes > 0 && transfer.peer != MPI_PROC_NULL;
  transfer.layout = buffer.layout;
  if (transfer.layout && transfer.on_device) refuse_layout(comm, call);
  return transfer;
}

/// Refuses a stream under capture, because it cannot take messages.
void check_stream(const Context& comm, std::string_view call, const PointToPoints& transfers, const Stream& stream) {
  if (stream.kind != StreamKind::cuda) return;
  const bool any = std::any_of(transfers.begin(), transfers.end(), [](const PointToPoint& t) { return t.on_device; });
  if (any && device::runtime()->capture_of(stream.handle) != 0)
    throw Error(
        ErrorCode::not_supported,
        fmt::format("{}, {}: the stream is under capture, which cannot contain messages; call it outside the capture",
                    call, comm.describe()));
}

}  // namespace

PointToPoint checked_send(const Context& comm, std::string_view call, const ConstBuffer& buffer, int dest, int tag,
                          MemoryKind declared) {
  check_peer(comm, call, dest, false, "dest");
  check_message(comm, call, buffer, tag, false);
  PointToPoint send = described(comm, call, buffer, declared, mpi_peer(dest), tag);
  (send.layout ? send.laid_from : send.from) = buffer.data;
  return send;
}

PointToPoint checked_recv(const Context& comm, std::string_view call, const Buffer& buffer, int source, int tag,
                          MemoryKind declared) {
  check_peer(comm, call, source, true, "source");
  check_message(comm, call, buffer, tag, true);
  PointToPoint recv = described(comm, call, buffer, declared, mpi_peer(source), mpi_tag(tag));
  recv.is_recv = true;
  (recv.layout ? recv.laid_to : recv.to) = buffer.data;
  return recv;
}

namespace {

/// Puts receives before sends, so that a message that has arrived need not wait until a send has completed, and returns
/// their number. Two transfers, those of sendrecv, change places without memory from the heap.
std::ptrdiff_t put_recvs_first(PointToPoints& transfers) {
  const auto is_recv = [](const PointToPoint& transfer) { return transfer.is_recv; };
  if (!std::is_partitioned(transfers.begin(), transfers.end(), is_recv)) {
    if (transfers.size() == 2)
      std::swap(transfers[0], transfers[1]);
    else
      std::stable_partition(transfers.begin(), transfers.end(), is_recv);
  }
  return std::count_if(transfers.begin(), transfers.end(), is_recv);
}

/// For check mode: whether a transfer's memory is watched.
bool is_watched(const PointToPoint& t) { return !t.on_device && !t.layout && t.peer != MPI_PROC_NULL; }

/// Gives receives shadows of their buffers.
ReceiveShadows shadow_receives(const Context& comm, PointToPoints& transfers) {
  ReceiveShadows shadows;
  for (PointToPoint& t : transfers) {
    if (!t.is_recv || !is_watched(t) || t.bytes == 0) continue;
    auto shadow = ReceiveShadow::of({{static_cast<const std::byte*>(t.to), t.bytes}}, comm.check->all_bytes());
    if (!shadow) continue;
    t.to = shadow->place_of(t.to);
    shadows.push_back(std::move(shadow));
  }
  return shadows;
}

/// For check mode: the memory of transfers from and to host memory that have no layout.
BufferUses uses_of(const PointToPoints& transfers) {
  BufferUses uses;
  for (const PointToPoint& t : transfers) {
    if (!is_watched(t)) continue;
    t.is_recv ? uses.add_written(t.to, t.bytes) : uses.add_read(t.from, t.bytes);
  }
  return uses;
}

/// For check mode: an operation, whose messages are in the order in which they are posted. Receives that the program
/// waits for later get shadows.
[[gnu::noinline]] Watch watch_of(const ContextPtr& comm, std::string_view call, PointToPoints& transfers,
                                 CallKind kind) {
  Watch watch{.uses = uses_of(transfers), .words = {std::string(call) + "()", record_of(take_site())}};
  if (kind != CallKind::persistent) require_free(*comm, watch.uses, watch.words);
  const bool matches_late = transfers.size() > 0 && transfers.begin()->matches_first;
  watch.messages = std::make_unique<ComparedMessages>(comm, call, watch.words.site, matches_late);
  for (const PointToPoint& t : transfers)
    watch.messages->add(t.is_recv, t.peer, t.tag, t.type, t.bytes / t.type.size());
  if (kind != CallKind::blocking) watch.shadows = shadow_receives(*comm, transfers);
  return watch;
}

/// Peers and tags as the flight recorder has them.
std::int32_t recorded_peer(int peer) { return peer == MPI_ANY_SOURCE ? flight::any : peer; }
std::int32_t recorded_tag(int tag) { return tag == MPI_ANY_TAG ? flight::any : tag; }

/// What the flight recorder writes of messages; of several with other peers, only their bytes.
flight::Facts facts_of(const Context& comm, CallKind kind, const PointToPoints& transfers) {
  flight::Facts facts{.communicator = comm.flight.row(), .call = flight::Call::group, .form = form_of(kind)};
  for (const PointToPoint& transfer : transfers) facts.bytes += transfer.bytes;
  if (transfers.size() != 1) return facts;
  const PointToPoint& only = *transfers.begin();
  facts.call = only.is_recv ? flight::Call::recv : flight::Call::send;
  facts.peer = recorded_peer(only.peer);
  facts.tag = recorded_tag(only.tag);
  return facts;
}

/// The messages of a group, one by one. Of a persistent group only the _init has them.
void trace_group(const flight::Note& note, const PointToPoints& transfers) {
  const trace::SlotNumber slot = note.recorder->trace_slot_of(note.number, false);
  for (const PointToPoint& one : transfers)
    note.recorder->log()->add_transfer(slot, one.is_recv, one.peer, one.tag, one.bytes);
}

Observers observers_of(const Context& comm, CallKind kind, const PointToPoints& transfers) {
  Observers by{.note = noted(comm, kind, [&] { return facts_of(comm, kind, transfers); })};
  if (is_traced(by.note) && transfers.size() != 1) [[unlikely]]
    trace_group(by.note, transfers);
  return by;
}

/// The execution of a nonblocking or persistent operation.
std::shared_ptr<Execution> make_messages(const ContextPtr& comm, std::string_view call, PointToPoints&& transfers,
                                         CallKind kind, const Options& options) {
  std::optional<Watch> watch;
  if (comm->check != nullptr) [[unlikely]]
    watch = watch_of(comm, call, transfers, kind);
  return make_observed(comm, kind, observers_of(*comm, kind, transfers), std::move(watch), [&](const auto& /*summed*/) {
    return make_transfers(comm, call, std::move(transfers), kind, call_options(*comm, options));
  });
}

}  // namespace

Status run_transfers(const std::shared_ptr<Context>& comm, std::string_view call, PointToPoints&& transfers,
                     const Options& options) {
  check_stream(*comm, call, transfers, options.stream);
  if (put_recvs_first(transfers) == 1) transfers.front().matches_first = transfers.front().peer != MPI_PROC_NULL;
  const auto messages = comm->check == nullptr ? nullptr : watch_of(comm, call, transfers, CallKind::blocking).messages;
  if (messages != nullptr) messages->begin();
  const Observers by = observers_of(*comm, CallKind::blocking, transfers);
  Observed observed(by);
  const Status status = drive_transfers(comm, call, std::move(transfers), call_options(*comm, options));
  by.note.came_from(status.source, status.tag);
  observed.succeed();
  if (messages != nullptr) messages->end(status);
  return status;
}

Request start_transfers(const std::shared_ptr<Context>& comm, std::string_view call, PointToPoints&& transfers,
                        const Options& options) {
  check_stream(*comm, call, transfers, options.stream);
  return ProgressEngine::instance().launch(
      make_messages(comm, call, std::move(transfers), CallKind::nonblocking, options));
}

Request prepare_transfers(const std::shared_ptr<Context>& comm, std::string_view call, PointToPoints&& transfers,
                          const Options& options) {
  check_stream(*comm, call, transfers, options.stream);
  comm->check_usable();
  return Request(make_messages(comm, call, std::move(transfers), CallKind::persistent, options));
}

namespace {

PointToPoints only(const PointToPoint& transfer) { return PointToPoints(std::array{transfer}); }

/// Returns true if a message of this buffer may go the short way; a wildcard may. Of checked arguments.
template <typename AnyBuffer>
bool is_short(const AnyBuffer& buffer, MemoryKind declared, int peer) {
  if (buffer.layout || buffer.count * buffer.type.size() > most_eager_bytes || peer == MPI_PROC_NULL) return false;
  return !is_of_device(buffer.memory, declared, buffer.data);
}

/// The arguments of a blocking send or receive.
template <typename AnyBuffer>
struct Side {
  const AnyBuffer& buffer;
  int peer;
  int tag;
};
using SendSide = Side<ConstBuffer>;
using RecvSide = Side<Buffer>;

/// Writes one side of a blocking call to the flight recorder; null: there is none.
template <typename AnyBuffer>
flight::Note noted(const Context& comm, flight::Call call, const Side<AnyBuffer>* side) {
  if (side == nullptr) return {};
  return noted(comm, CallKind::blocking, [&] {
    return flight::Facts{.bytes = side->buffer.count * side->buffer.type.size(),
                         .communicator = comm.flight.row(),
                         .peer = recorded_peer(mpi_peer(side->peer)),
                         .tag = recorded_tag(mpi_tag(side->tag)),
                         .call = call,
                         .type = static_cast<std::uint8_t>(side->buffer.type.kind())};
  });
}

[[gnu::noinline]] Status go_on(const ContextPtr& comm, std::string_view call, const SendSide* send,
                               const RecvSide* recv, const Options& options, const ShortMessages& begun) {
  PointToPoint sent;
  PointToPoint received;
  if (send != nullptr) sent = checked_send(*comm, call, send->buffer, send->peer, send->tag, options.memory);
  if (recv != nullptr) received = checked_recv(*comm, call, recv->buffer, recv->peer, recv->tag, options.memory);
  for (const PointToPoint* transfer : {&sent, &received})
    if (transfer->on_device) check_stream(*comm, call, only(*transfer), options.stream);
  return continue_messages(comm, call, send == nullptr ? nullptr : &sent, recv == nullptr ? nullptr : &received,
                           call_options(*comm, options), begun);
}

/// For check mode: that no outstanding call uses the memory of a blocking one.
void check_uses(const Context& comm, const CallWords& words, const SendSide* send, const RecvSide* recv,
                const Options& options) {
  if (!has_outstanding_calls()) return;
  BufferUses uses;
  const auto bytes = [&](const auto& side) {
    const bool is_looked_at = !side.buffer.layout && mpi_peer(side.peer) != MPI_PROC_NULL &&
                              !is_of_device(side.buffer.memory, options.memory, side.buffer.data);
    return is_looked_at ? side.buffer.count * side.buffer.type.size() : 0;
  };
  if (send != nullptr) uses.add_read(send->buffer.data, bytes(*send));
  if (recv != nullptr) uses.add_written(recv->buffer.data, bytes(*recv));
  require_free(comm, uses, words);
}

/// A blocking send, receive, or one of each, of checked arguments; null: none.
struct BlockingMessages {
  const SendSide* send;
  const RecvSide* recv;
  ShortSend out{};
  ShortRecv in{};
  bool all_short = false;
};

inline Status move_messages(const ContextPtr& comm, std::string_view call, const BlockingMessages& m,
                            const Options& options) {
  flight::Recording sending(noted(*comm, flight::Call::send, m.send));
  const flight::Note received = noted(*comm, flight::Call::recv, m.recv);
  flight::Recording receiving(received);
  ShortMessages messages(*comm, m.send == nullptr ? nullptr : &m.out, m.recv == nullptr ? nullptr : &m.in);
  const Status status =
      m.all_short && messages.run() ? messages.status() : go_on(comm, call, m.send, m.recv, options, messages);
  received.came_from(status.source, status.tag);
  sending.succeed();
  receiving.succeed();
  return status;
}

/// The same in check mode.
[[gnu::noinline]] Status move_compared(const ContextPtr& comm, std::string_view call, const BlockingMessages& m,
                                       const Options& options) {
  const CallWords words{std::string(call) + "()", record_of(take_site())};
  check_uses(*comm, words, m.send, m.recv, options);
  ComparedMessages messages(comm, call, words.site, true);
  const auto add = [&](bool is_recv, const auto& side) {
    messages.add(is_recv, mpi_peer(side.peer), mpi_tag(side.tag), side.buffer.type, side.buffer.count);
  };
  if (m.recv != nullptr) add(true, *m.recv);
  if (m.send != nullptr) add(false, *m.send);
  messages.begin();
  const Status status = move_messages(comm, call, m, options);
  messages.end(status);
  return status;
}

inline Status run_messages(const ContextPtr& comm, std::string_view call, const SendSide* send, const RecvSide* recv,
                           const Options& options) {
  BlockingMessages m{.send = send, .recv = recv, .all_short = options.timeout.count() >= 0};
  if (send != nullptr) {
    const int peer = mpi_peer(send->peer);
    check_peer(*comm, call, send->peer, false, "dest");
    check_message(*comm, call, send->buffer, send->tag, false);
    m.out = {send->buffer.data, send->buffer.count * send->buffer.type.size(), peer, send->tag};
    m.all_short = m.all_short && is_short(send->buffer, options.memory, peer);
  }
  if (recv != nullptr) {
    const int peer = mpi_peer(recv->peer);
    const std::size_t unit = recv->buffer.type.size();
    check_peer(*comm, call, recv->peer, true, "source");
    check_message(*comm, call, recv->buffer, recv->tag, true);
    m.in = {recv->buffer.data, recv->buffer.count * unit, unit, peer, mpi_tag(recv->tag)};
    m.all_short = m.all_short && is_short(recv->buffer, options.memory, peer);
  }
  if (comm->check != nullptr) [[unlikely]]
    return move_compared(comm, call, m, options);
  return move_messages(comm, call, m, options);
}

Wanted checked_wanted(const Context& comm, std::string_view call, Datatype type, int source, int tag) {
  check_peer(comm, call, source, true, "source");
  check_tag(comm, call, tag, true);
  check_type(comm, call, type);
  comm.check_usable();
  return {mpi_peer(source), mpi_tag(tag), type.size()};
}

}  // namespace
}  // namespace detail

void send(const Communicator& comm, ConstBuffer buffer, int dest, int tag, const Options& options) {
  const detail::SendSide side{buffer, dest, tag};
  detail::run_messages(comm.state(), "send", &side, nullptr, options);
}

Status recv(const Communicator& comm, Buffer buffer, int source, int tag, const Options& options) {
  const detail::RecvSide side{buffer, source, tag};
  return detail::run_messages(comm.state(), "recv", nullptr, &side, options);
}

Status sendrecv(const Communicator& comm, ConstBuffer send_buffer, int dest, int send_tag, Buffer recv_buffer,
                int source, int recv_tag, const Options& options) {
  const detail::SendSide out{send_buffer, dest, send_tag};
  const detail::RecvSide in{recv_buffer, source, recv_tag};
  return detail::run_messages(comm.state(), "sendrecv", &out, &in, options);
}

Request isend(const Communicator& comm, ConstBuffer buffer, int dest, int tag, const Options& options) {
  const auto& state = comm.state();
  return detail::start_transfers(
      state, "isend", detail::only(detail::checked_send(*state, "isend", buffer, dest, tag, options.memory)), options);
}

Request irecv(const Communicator& comm, Buffer buffer, int source, int tag, const Options& options) {
  const auto& state = comm.state();
  return detail::start_transfers(
      state, "irecv", detail::only(detail::checked_recv(*state, "irecv", buffer, source, tag, options.memory)),
      options);
}

Request send_init(const Communicator& comm, ConstBuffer buffer, int dest, int tag, const Options& options) {
  const auto& state = comm.state();
  return detail::prepare_transfers(
      state, "send_init", detail::only(detail::checked_send(*state, "send_init", buffer, dest, tag, options.memory)),
      options);
}

Request recv_init(const Communicator& comm, Buffer buffer, int source, int tag, const Options& options) {
  const auto& state = comm.state();
  return detail::prepare_transfers(
      state, "recv_init", detail::only(detail::checked_recv(*state, "recv_init", buffer, source, tag, options.memory)),
      options);
}

Status probe(const Communicator& comm, Datatype type, int source, int tag, const Options& options) {
  const auto& state = comm.state();
  return detail::wait_for(state, detail::checked_wanted(*state, "probe", type, source, tag),
                          detail::call_options(*state, options));
}

std::optional<Status> iprobe(const Communicator& comm, Datatype type, int source, int tag) {
  const auto& state = comm.state();
  const detail::Wanted wanted = detail::checked_wanted(*state, "iprobe", type, source, tag);
  detail::ProgressEngine::instance().poll();
  return detail::look_for(*state, wanted);
}

}  // namespace tutti
