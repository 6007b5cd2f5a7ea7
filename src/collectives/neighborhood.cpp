// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/neighborhood.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <tutti/error.hpp>
#include <utility>

#include "backends/neighborhood.hpp"
#include "call/check.hpp"
#include "call/progress.hpp"
#include "collectives/arguments.hpp"
#include "collectives/call.hpp"
#include "collectives/observers.hpp"
#include "collectives/overlap.hpp"

namespace tutti {
namespace detail {
namespace {

const Neighbors& neighbors_of(const Context& comm, std::string_view function) {
  if (comm.neighbors == nullptr) [[unlikely]]
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}, {}: argument comm has no topology; make it of a communicator of MPI_Cart_create, "
                            "MPI_Graph_create or MPI_Dist_graph_create_adjacent",
                            function, comm.describe()));
  return *comm.neighbors;
}

/// The name of a public function, and its operation: "ineighbor_alltoall" is neighbor_alltoall.
struct Name {
  consteval Name(const char* literal) : text(literal), call(call_of(text)) {}  // NOLINT(google-explicit-constructor)

  std::string_view text;
  flight::Call call;

 private:
  static consteval flight::Call call_of(std::string_view name) {
    name.remove_prefix(name.find("neighbor"));
    name = name.substr(0, name.find("_init"));
#define TUTTI_CALL(operation, ...) \
  if (name == #operation) return flight::Call::operation;
    TUTTI_NEIGHBOR_OPERATIONS(TUTTI_CALL)
#undef TUTTI_CALL
    throw name;  // no constant: it does not compile
  }
};

/// Checks the arguments of one neighborhood collective and makes its blocks of them.
class NeighborArguments {
 public:
  NeighborArguments(const Communicator& comm, const Name& name, const Options& options)
      : comm_(*comm.state()), neighbors_(neighbors_of(comm_, name.text)), declared_(options.memory) {
    exchange_.name = name.text;
    exchange_.call = name.call;
    if (options.timeout.count() < 0) [[unlikely]]
      refuse("options.timeout", "is negative; pass 0 for no timeout");
  }

  [[nodiscard]] const schedules::Neighborhood& edges() const { return neighbors_.edges; }

  /// One block for all destinations.
  void send_one(const ConstBuffer& buffer) {
    check(buffer, "send");
    exchange_.sends_one = true;
    sent_ = {buffer.data, buffer.count};
    exchange_.sent = EdgeBlocks(1, block(buffer, 0, buffer.count));
  }
  /// Equal blocks.
  void send(const ConstBuffer& buffer) {
    check(buffer, "send");
    sent_ = {buffer.data, buffer.count};
    add_equal(exchange_.sent, buffer, edges().destinations.size(), "send", "destination");
  }
  void recv(const Buffer& buffer) {
    check(buffer, "recv");
    received_ = {buffer.data, buffer.count};
    add_equal(exchange_.received, buffer, edges().sources.size(), "recv", "source");
  }
  /// Blocks of counts at displacements.
  void send(const ConstBuffer& buffer, Counts counts, Counts displs) {
    check(buffer, "send");
    sent_ = {buffer.data, buffer.count, counts, displs};
    add_placed(exchange_.sent, buffer, counts, displs, edges().destinations.size(), "send");
  }
  void recv(const Buffer& buffer, Counts counts, Counts displs) {
    check(buffer, "recv");
    received_ = {buffer.data, buffer.count, counts, displs};
    add_placed(exchange_.received, buffer, counts, displs, edges().sources.size(), "recv");
  }
  /// Blocks that are buffers of their own.
  void send(std::span<const ConstBuffer> blocks) {
    add_each(exchange_.sent, blocks, edges().destinations, "send", "destination");
  }
  void recv(std::span<const Buffer> blocks) { add_each(exchange_.received, blocks, edges().sources, "recv", "source"); }
  /// Refuses two buffers that differ in datatype or overlap.
  void require_apart(const ConstBuffer& send, const Buffer& recv) const {
    if (send.type != recv.type) [[unlikely]]
      refuse(ErrorCode::invalid_datatype,
             fmt::format("arguments send and recv have datatypes {} and {}; pass buffers of the same datatype",
                         datatype_name(send.type.kind()), datatype_name(recv.type.kind())));
    if (overlap(sent_, received_, send.type.size())) [[unlikely]]
      refuse("recv", "shares memory with argument send; pass buffers that share no element");
  }
  [[nodiscard]] NeighborExchange take() {
    check_own_blocks();
    return std::move(exchange_);
  }

 private:
  [[noreturn]] void refuse(ErrorCode code, std::string_view problem) const {
    refuse_neighbor_exchange(comm_, exchange_.call);
    throw Error(code, fmt::format("{}, {}: {}", exchange_.name, comm_.describe(), problem));
  }
  [[noreturn]] void refuse(std::string_view argument, std::string_view problem) const {
    refuse(ErrorCode::invalid_argument, fmt::format("argument {} {}", argument, problem));
  }

  template <typename AnyBuffer>
  void check_block(const AnyBuffer& buffer, const char* name) const {
    if (!is_datatype(buffer.type)) [[unlikely]]
      refuse(ErrorCode::invalid_datatype,
             "the datatype is not one of the library's; use a DatatypeKind or Datatype::bytes(n), n > 0");
    if (buffer.is_in_place || buffer.data == MPI_IN_PLACE) [[unlikely]]
      refuse(name, "is in_place, which neighborhood collectives lack; pass a buffer");
    if (buffer.data == nullptr && buffer.count > 0) [[unlikely]]
      refuse(name, "is a null pointer but has elements; pass the buffer's address");
    if (!fits_address_space(buffer.count, buffer.type)) [[unlikely]]
      refuse(name, "is larger than the address space; pass the count in elements");
    if (is_of_device(buffer.memory, declared_, buffer.data)) [[unlikely]]
      refuse(ErrorCode::not_supported,
             fmt::format("argument {} is in device memory, which neighborhood collectives do not take; pass host "
                         "memory, or use Group, which does",
                         name));
  }
  template <typename AnyBuffer>
  void check(const AnyBuffer& buffer, const char* name) const {
    check_block(buffer, name);
    if (buffer.layout) [[unlikely]]
      refuse(name, "has a layout, which only neighbor_alltoallw takes; use that, with a buffer for each block");
  }

  template <typename AnyBuffer>
  static EdgeBlock block(const AnyBuffer& buffer, std::size_t offset, std::size_t count) {
    const std::size_t unit = buffer.type.size();
    // The execution reads blocks that are sent, and writes those that are received.
    auto* const address = static_cast<std::byte*>(const_cast<void*>(static_cast<const void*>(buffer.data)));
    return {address == nullptr ? nullptr : address + offset * unit, count * unit, unit, {}};
  }

  template <typename AnyBuffer>
  void add_equal(EdgeBlocks& blocks, const AnyBuffer& buffer, std::size_t n, const char* name,
                 const char* neighbor) const {
    if (n == 0 ? buffer.count > 0 : buffer.count % n != 0) [[unlikely]]
      refuse(name, fmt::format("has {} elements, which do not divide into an equal block for each {}, of which there "
                               "are {}; pass such blocks",
                               buffer.count, neighbor, n));
    blocks = EdgeBlocks(n);
    for (std::size_t i = 0; i < n; ++i) blocks[i] = block(buffer, i * (buffer.count / n), buffer.count / n);
  }

  template <typename AnyBuffer>
  void add_placed(EdgeBlocks& blocks, const AnyBuffer& buffer, Counts counts, Counts displs, std::size_t n,
                  const char* name) const {
    for (const auto& [numbers, what] : {std::pair(counts, "counts"), std::pair(displs, "displs")})
      if (numbers.size() != n) [[unlikely]]
        refuse(fmt::format("{}_{}", name, what),
               fmt::format("has {} elements, but there are {} neighbours; pass one for each", numbers.size(), n));
    if (const auto bad = find_bad_block(counts, displs, buffer.count, name, "neighbour")) [[unlikely]]
      refuse(bad->argument, bad->problem);
    blocks = EdgeBlocks(n);
    for (std::size_t i = 0; i < n; ++i) blocks[i] = block(buffer, counts[i] > 0 ? displs[i] : 0, counts[i]);
  }

  /// Buffers of neighbours that do not exist are not looked at.
  template <typename AnyBuffer>
  void add_each(EdgeBlocks& blocks, std::span<const AnyBuffer> buffers, const std::vector<int>& neighbors,
                const char* name, const char* neighbor) const {
    const std::size_t n = neighbors.size();
    if (buffers.size() != n) [[unlikely]]
      refuse(name, fmt::format("has {} buffers, but there are {} neighbours; pass one for each {}", buffers.size(), n,
                               neighbor));
    blocks = EdgeBlocks(n);
    for (std::size_t i = 0; i < n; ++i) {
      if (neighbors[i] < 0) continue;
      check_block(buffers[i], name);
      blocks[i] = block(buffers[i], 0, buffers[i].count);
      blocks[i].layout = buffers[i].layout;
    }
  }

  /// What a rank sends to itself meets no message that could be too long.
  void check_own_blocks() const {
    for (const auto& [from, to] : exchange_.routes_of(neighbors_).kept)
      if (exchange_.sent[from].bytes != exchange_.received[to].bytes) [[unlikely]]
        refuse("recv", fmt::format("has {} bytes in block {}, but this rank sends itself {} bytes there, block {} of "
                                   "send; pass equal blocks",
                                   exchange_.received[to].bytes, to, exchange_.sent[from].bytes, from));
  }

  Context& comm_;
  const Neighbors& neighbors_;
  MemoryKind declared_;
  NeighborExchange exchange_;
  Touched sent_{};
  Touched received_{};
};

/// Makes a call, or a part of one. An Error is a refusal or has broken the communicator; if memory runs out, that
/// breaks it.
template <typename Make>
auto make_or_break(Context& context, flight::Call call, const Make& make) {
  try {
    return make();
  } catch (const Error&) {
    throw;
  } catch (...) {
    break_neighbor_exchange(context, call);
  }
}

/// The bytes that this rank gives or takes, whichever are more.
std::uint64_t bytes_of(const NeighborExchange& exchange) {
  const auto sum = [](const EdgeBlocks& blocks) {
    std::uint64_t bytes = 0;
    for (const EdgeBlock& block : blocks) bytes += block.bytes;
    return bytes;
  };
  return std::max(sum(exchange.sent), sum(exchange.received));
}

flight::Facts facts_of(Context& comm, const NeighborExchange& exchange, CallKind kind, std::string_view way) {
  return {.bytes = bytes_of(exchange),
          .communicator = comm.flight.row(),
          .sequence = comm.flight.next_sequence(),
          .way = way.empty() ? flight::TextNumber{0} : comm.flight.recorder()->text(way),
          .call = exchange.call,
          .form = form_of(kind)};
}

/// The blocks of an exchange that have no layout.
BufferUses uses_of(const NeighborExchange& exchange) {
  BufferUses uses;
  for (const EdgeBlock& block : exchange.sent)
    if (!block.layout) uses.add_read(block.address, block.bytes);
  for (const EdgeBlock& block : exchange.received)
    if (!block.layout) uses.add_written(block.address, block.bytes);
  return uses;
}

Observers observers_of(Context& comm, const NeighborExchange& exchange, CallKind kind) {
  const std::string_view way = neighbor_way(comm);
  Observers by;
  if (comm.summary != nullptr) [[unlikely]]
    by.count(*comm.summary, flight::call_name(exchange.call), kind, std::string(way.empty() ? "messages" : way),
             bytes_of(exchange));
  by.note = noted(comm, kind, [&] { return facts_of(comm, exchange, kind, way); });
  if (comm.flight.has_checksums()) [[unlikely]]
    by.sums = std::make_unique<Checksums>(comm, uses_of(exchange));
  return by;
}

/// For check mode: ranks compare nothing but the operation and its form, because counts belong to edges.
BufferUses checked_uses(Context& context, const NeighborExchange& exchange) {
  context.check_usable();
  BufferUses uses = uses_of(exchange);
  require_free(context, uses, std::string(exchange.name) + "()",
               [&] { refuse_neighbor_exchange(context, exchange.call); });
  return uses;
}

void run_exchange(const ContextPtr& context, NeighborExchange&& exchange, const Options& options) {
  if (context->check != nullptr) [[unlikely]] {
    (void)checked_uses(*context, exchange);
    context->check->meet(exchange.call, call_options(*context, options).timeout);
  }
  const Observers by = observers_of(*context, exchange, CallKind::blocking);
  Observed observed(by);
  run_neighbor_exchange(context, std::move(exchange), call_options(*context, options));
  observed.succeed();
}

std::shared_ptr<Execution> make_exchange(const ContextPtr& context, NeighborExchange&& exchange, CallKind kind,
                                         const Options& options) {
  std::optional<Watch> watch;
  if (context->check != nullptr) [[unlikely]] {
    BufferUses uses = checked_uses(*context, exchange);
    watch = watch_of(*context, context->check->note(exchange.call, kind), std::move(uses), {});
  }
  return make_observed(
      context, kind, observers_of(*context, exchange, kind), std::move(watch), [&](const auto& summed) {
        return summed(make_neighbor_exchange(context, std::move(exchange), kind, call_options(*context, options)));
      });
}

/// The execution of a nonblocking or persistent call. The caller starts it.
std::shared_ptr<Execution> make_neighbors(const Communicator& comm, NeighborExchange&& exchange, CallKind kind,
                                          const Options& options) {
  return make_or_break(*comm.state(), exchange.call,
                       [&] { return make_exchange(comm.state(), std::move(exchange), kind, options); });
}
void run_neighbors(const Communicator& comm, NeighborExchange&& exchange, const Options& options) {
  make_or_break(*comm.state(), exchange.call, [&] { run_exchange(comm.state(), std::move(exchange), options); });
}
Request start_neighbors(const Communicator& comm, NeighborExchange&& exchange, const Options& options) {
  return ProgressEngine::instance().launch(make_neighbors(comm, std::move(exchange), CallKind::nonblocking, options));
}
Request prepare_neighbors(const Communicator& comm, NeighborExchange&& exchange, const Options& options) {
  comm.state()->check_usable();
  return Request(make_neighbors(comm, std::move(exchange), CallKind::persistent, options));
}

/// The blocks of a call. check: fills in the arguments.
template <typename Check>
NeighborExchange blocks_of(const Communicator& comm, const Name& name, const Options& options, const Check& check) {
  NeighborArguments args(comm, name, options);
  return make_or_break(*comm.state(), name.call, [&] {
    check(args);
    return args.take();
  });
}

}  // namespace
}  // namespace detail

Neighborhood neighborhood(const Communicator& comm) {
  const schedules::Neighborhood& edges = detail::neighbors_of(*comm.state(), "neighborhood").edges;
  return {edges.sources, edges.destinations};
}

#define TUTTI_WITHOUT_PARENTHESES(...) __VA_ARGS__
#define TUTTI_FORM(Result, name, given, make, fill)                                                                    \
  Result name(const Communicator& comm, TUTTI_WITHOUT_PARENTHESES given, const Options& options) {                     \
    return detail::make(comm, detail::blocks_of(comm, #name, options, [&](detail::NeighborArguments& args) { fill; }), \
                        options);                                                                                      \
  }
/// Defines a neighborhood collective in its three forms. given: its arguments between the communicator and the options,
/// in parentheses. fill: hands them to `args`.
#define TUTTI_NEIGHBOR_COLLECTIVE(name, given, fill)         \
  TUTTI_FORM(void, name, given, run_neighbors, fill)         \
  TUTTI_FORM(Request, i##name, given, start_neighbors, fill) \
  TUTTI_FORM(Request, name##_init, given, prepare_neighbors, fill)

TUTTI_NEIGHBOR_COLLECTIVE(neighbor_allgather, (ConstBuffer send, Buffer recv),
                          (args.send_one(send), args.recv(recv), args.require_apart(send, recv)))

TUTTI_NEIGHBOR_COLLECTIVE(neighbor_allgatherv,
                          (ConstBuffer send, Buffer recv, const Counts& recv_counts, const Counts& recv_displs),
                          (args.send_one(send), args.recv(recv, recv_counts, recv_displs),
                           args.require_apart(send, recv)))

TUTTI_NEIGHBOR_COLLECTIVE(neighbor_alltoall, (ConstBuffer send, Buffer recv),
                          (args.send(send), args.recv(recv), args.require_apart(send, recv)))

TUTTI_NEIGHBOR_COLLECTIVE(neighbor_alltoallv,
                          (ConstBuffer send, const Counts& send_counts, const Counts& send_displs, Buffer recv,
                           const Counts& recv_counts, const Counts& recv_displs),
                          (args.send(send, send_counts, send_displs), args.recv(recv, recv_counts, recv_displs),
                           args.require_apart(send, recv)))

TUTTI_NEIGHBOR_COLLECTIVE(neighbor_alltoallw, (std::span<const ConstBuffer> send, std::span<const Buffer> recv),
                          (args.send(send), args.recv(recv)))

#undef TUTTI_NEIGHBOR_COLLECTIVE
#undef TUTTI_FORM
#undef TUTTI_WITHOUT_PARENTHESES

}  // namespace tutti
