// SPDX-License-Identifier: BSD-3-Clause
#include "example.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "backends/list.hpp"
#include "backends/mpi/schedule_execution.hpp"
#include "call/plan.hpp"
#include "call/progress.hpp"
#include "planner/planner.hpp"
#include "schedules/registry.hpp"

namespace tutti::test {
namespace {

constexpr std::byte untouched{0xA5};

std::size_t elements_of(std::span<const std::size_t> counts, std::span<const std::size_t> displs) {
  std::size_t end = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) end = std::max(end, displs[i] + counts[i]);
  return end + 2;
}

/// Elements that rank `from` has for rank `to` in a v-form.
std::size_t share(std::size_t count, int from, int to) {
  return count == 0 ? 0 : (count + static_cast<std::size_t>(from * 3 + to * 5)) % (count + 2);
}

/// Blocks in reverse order, with gaps.
std::vector<std::size_t> places(const std::vector<std::size_t>& counts) {
  std::vector<std::size_t> displs(counts.size());
  std::size_t next = 1;
  for (std::size_t i = counts.size(); i-- > 0;) {
    displs[i] = next;
    next += counts[i] + 2;
  }
  return displs;
}

void put(std::byte* to, Datatype type, std::size_t i, int value) {
  const auto as = [&](auto typed) { std::memcpy(to + i * sizeof typed, &typed, sizeof typed); };
  switch (type.kind()) {
    case DatatypeKind::int32:
      return as(static_cast<std::int32_t>(value));
    case DatatypeKind::int16:
      return as(static_cast<std::int16_t>(value));
    case DatatypeKind::float64:
      return as(static_cast<double>(value));
    case DatatypeKind::float32:
      return as(static_cast<float>(value));
    case DatatypeKind::bfloat16: {
      const auto wide = static_cast<float>(value);
      std::uint32_t bits = 0;
      std::memcpy(&bits, &wide, sizeof bits);
      return as(static_cast<std::uint16_t>(bits >> 16U));
    }
    default:
      for (std::size_t b = 0; b < type.size(); ++b)
        to[i * type.size() + b] = static_cast<std::byte>(value + static_cast<int>(b));
  }
}

}  // namespace

standin::Runtime& runtime() {
  static auto* made = [] {
    auto* fresh = new standin::Runtime(1);
    fresh->install();
    return fresh;
  }();
  return *made;
}

Communicator device_communicator(bool cuda_aware, MPI_Comm handle) {
  auto comm = Communicator::duplicate(handle);
  standin::DeviceArena::instance().keep_open(cuda_aware);
  auto side = std::make_unique<detail::DeviceSide>();
  side->stream = runtime().create_stream();
  side->kernels = true;
  side->cuda_aware = cuda_aware;
  comm.state()->device = std::move(side);
  return comm;
}

std::string Example::describe() const {
  return fmt::format("{} of {} {}, root {}{}", operation_name(operation), count, datatype_name(type.kind()), root,
                     in_place ? ", in place" : "");
}

Memory::Memory(MemoryKind kind, std::size_t bytes)
    : kind_(kind), bytes_(bytes), data_(static_cast<std::byte*>(runtime().allocate(kind, bytes + 64))) {}
Memory::~Memory() {
  if (data_ != nullptr) runtime().release(kind_, data_);
}
Memory::Memory(Memory&& other) noexcept
    : kind_(other.kind_), bytes_(other.bytes_), data_(std::exchange(other.data_, nullptr)) {}

Buffers::Buffers(const Communicator& comm, const Example& example)
    : example_(example), rank_(comm.rank()), size_(comm.size()) {
  const bool rooted = tutti::has_root(example.operation);
  // Only the root of an operation can be in place; of a bcast nobody.
  if (rooted && (rank_ != example.root || example.operation == Operation::bcast)) example_.in_place = false;
  const std::size_t unit = example.type.size();
  const Binding shape = bind(nullptr, nullptr);
  const bool is_root = rank_ == example.root;
  const std::size_t n = example.count;
  const std::size_t all = n * static_cast<std::size_t>(size_);
  std::size_t in = n;
  std::size_t out = n;
  switch (example.operation) {
    case Operation::bcast:
      in = 0;
      break;
    case Operation::reduce:
      out = is_root ? n : 0;
      break;
    case Operation::gather:
      out = is_root ? all : 0;
      break;
    case Operation::scatter:
      in = is_root ? all : 0;
      break;
    case Operation::allgather:
      out = all;
      break;
    case Operation::alltoall:
      in = out = all;
      break;
    case Operation::reduce_scatter_block:
      in = all;
      out = example_.in_place ? all : n;
      break;
    case Operation::reduce_scatter:
      in = 0;
      for (const std::size_t c : shape.recv_counts) in += c;
      out = example_.in_place ? in : shape.recv_count;
      break;
    case Operation::gatherv:
    case Operation::allgatherv:
      in = shape.send_count;
      out = shape.recv_counts.empty() ? 0 : elements_of(shape.recv_counts, shape.recv_displs);
      break;
    case Operation::scatterv:
      in = shape.send_counts.empty() ? 0 : elements_of(shape.send_counts, shape.send_displs);
      out = shape.recv_count;
      break;
    case Operation::alltoallv:
      in = elements_of(shape.send_counts, shape.send_displs);
      out = elements_of(shape.recv_counts, shape.recv_displs);
      break;
    default:
      break;
  }
  const bool scatters = example.operation == Operation::scatter || example.operation == Operation::scatterv;
  in_bytes_ = example_.in_place && !scatters ? 0 : in * unit;
  out_bytes_ = example_.in_place && scatters ? 0 : out * unit;
  // Whatever is not overwritten by the fill below is a gap.
  contribution_.assign(in_bytes_ + out_bytes_, untouched);
  const bool gives_output = in_bytes_ == 0 && (example_.in_place || (example.operation == Operation::bcast && is_root));
  std::byte* from = contribution_.data() + (gives_output ? in_bytes_ : 0);
  const std::size_t given = (gives_output ? out_bytes_ : in_bytes_) / unit;
  for (std::size_t i = 0; i < given; ++i)
    put(from, example.type, i, static_cast<int>((i * 7 + static_cast<std::size_t>(rank_) * 5) % 11) + 1);
  memory_ = std::make_shared<Memory>(MemoryKind::device, contribution_.size());
  device_ = bind(memory_->data(), memory_->data() + in_bytes_);
  find_expected(comm);
}

Binding Buffers::bind(std::byte* input, std::byte* output) const {
  Binding b;
  b.op = example_.op;
  b.in_place = example_.in_place;
  const Operation op = example_.operation;
  const bool is_root = rank_ == example_.root;
  const auto me = static_cast<std::size_t>(rank_);
  const std::size_t unit = example_.type.size();
  std::vector<std::size_t> sends;
  std::vector<std::size_t> recvs;
  for (int r = 0; r < size_; ++r) {
    // In place both directions of a pair are as long.
    const bool pairs = op == Operation::alltoallv;
    const bool alike = pairs && example_.in_place;
    recvs.push_back(alike ? share(example_.count, 0, 0) : share(example_.count, r, pairs ? rank_ : 0));
    sends.push_back(pairs ? share(example_.count, rank_, r) : share(example_.count, r, 0));
  }
  if (op == Operation::alltoallv && example_.in_place) sends = recvs;
  const std::vector<std::size_t> send_places = places(sends);
  const std::vector<std::size_t> recv_places = places(recvs);
  std::size_t offset = 0;  // of this rank's block in what is in place
  switch (op) {
    case Operation::bcast:
      input = nullptr;
      break;
    case Operation::gather:
    case Operation::allgather:
    case Operation::scatter:
      offset = me * example_.count;
      break;
    case Operation::gatherv:
    case Operation::allgatherv:
      b.send_count = recvs[me];
      if (is_root || op == Operation::allgatherv) {
        b.recv_counts = recvs;
        b.recv_displs = recv_places;
        offset = b.recv_displs[me];
      }
      break;
    case Operation::scatterv:
      b.recv_count = sends[me];
      if (is_root) {
        b.send_counts = sends;
        b.send_displs = send_places;
        offset = b.send_displs[me];
      }
      break;
    case Operation::alltoallv:
      b.recv_counts = recvs;
      b.recv_displs = recv_places;
      b.send_counts = sends;
      b.send_displs = send_places;
      break;
    case Operation::reduce_scatter:
      b.recv_counts = recvs;
      b.recv_count = recvs[me];
      break;
    default:
      break;
  }
  const bool scatters = op == Operation::scatter || op == Operation::scatterv;
  b.input = input;
  b.output = output;
  if (example_.in_place && input != nullptr) {
    if (scatters)
      b.output = input + offset * unit;
    else
      b.input = output + offset * unit;
  }
  b.keep_lists();
  const bool no_output = (op == Operation::reduce || op == Operation::gather || op == Operation::gatherv) && !is_root;
  if (no_output) b.output = nullptr;
  if (scatters && !is_root) b.input = nullptr;
  return b;
}

Signature Buffers::signature(CallKind kind) const {
  Signature s;
  s.operation = example_.operation;
  s.kind = kind;
  s.type = example_.type;
  s.op = example_.op.kind();
  s.commutative = example_.op.commutative();
  s.root = example_.root;
  s.count = example_.count;
  const bool knows_sum = s.operation == Operation::allgatherv || s.operation == Operation::reduce_scatter;
  if (knows_sum) {
    s.count = 0;
    for (const std::size_t c : device_.recv_counts) s.count += c;
  } else if (s.operation == Operation::gatherv || s.operation == Operation::scatterv ||
             s.operation == Operation::alltoallv) {
    s.count = 0;
  }
  return s;
}

void Buffers::find_expected(const Communicator& comm) {
  const auto& state = comm.state();
  expected_ = contribution_;
  Signature s = signature(CallKind::blocking);
  s.algorithm = "mpi";
  detail::ScheduleExecution execution(state, detail::make_plan(s, state->machine()),
                                      bind(expected_.data(), expected_.data() + in_bytes_), state->next_tag(),
                                      std::chrono::nanoseconds{0});
  detail::run_to_end(execution);
}

void Buffers::fill() const {
  const standin::HostAccess access;
  std::copy(contribution_.begin(), contribution_.end(), memory_->data());
}

void Buffers::scribble() const {
  const standin::HostAccess access;
  std::fill_n(memory_->data(), contribution_.size(), std::byte{0x3C});
}

std::vector<std::byte> Buffers::content() const {
  const standin::HostAccess access;
  return {memory_->data(), memory_->data() + contribution_.size()};
}

std::shared_ptr<const Plan> staged_plan(const Context& comm, const Signature& signature, const char* host,
                                        const detail::staged::Limits& limits) {
  auto plan = std::make_shared<Plan>();
  plan->signature = signature;
  plan->signature.memory = detail::MemoryClass::device;
  plan->backend = &detail::staged_backend;
  const detail::staged::Cut cut = detail::staged::cut(signature, comm.size, limits);
  plan->pieces = cut.pieces;
  Signature piece = signature;
  piece.count = cut.count;
  const detail::Machine machine = comm.machine();
  piece.algorithm = machine.shared_memory ? host : "mpi";
  plan->part = detail::make_plan(piece, machine);
  const std::size_t last = detail::staged::range_of(cut, signature.count, cut.pieces - 1).count;
  plan->last_part = cut.pieces == 1 ? plan->part : detail::with_count(*plan->part, last, machine);
  return plan;
}

CallKind kind_of(Way way) {
  if (way == Way::persistent) return CallKind::persistent;
  return way == Way::without_stream || way == Way::on_stream ? CallKind::blocking : CallKind::nonblocking;
}

const char* way_name(Way way) {
  constexpr const char* names[] = {"without a stream", "on a stream", "nonblocking", "nonblocking on a stream",
                                   "persistent"};
  return names[static_cast<int>(way)];
}

namespace {

/// Fills the buffers late: what does not wait for the stream reads 0x3C.
void fill_late(const Buffers& buffers, detail::device::StreamHandle stream) {
  buffers.scribble();
  runtime().enqueue(stream, "late", [&buffers, looks = 0]() mutable {
    if (++looks < 20) return false;
    buffers.fill();
    return true;
  });
}

/// Takes the result in stream order, and then destroys it.
void take(const Buffers& buffers, detail::device::StreamHandle stream, std::vector<std::byte>& result) {
  runtime().enqueue(stream, "take", [&] {
    result = buffers.content();
    buffers.scribble();
    return true;
  });
}

std::vector<std::byte> result_of(const Buffers& buffers, Way way, const Make& make) {
  detail::ProgressEngine& engine = detail::ProgressEngine::instance();
  std::vector<std::byte> result;
  if (way == Way::without_stream || way == Way::nonblocking) {
    buffers.fill();
    if (way == Way::nonblocking)
      engine.launch(make({})).wait();
    else
      detail::run_to_end(*make({}));
    return buffers.content();
  }
  const auto stream = runtime().create_stream();
  const Stream caller(StreamKind::cuda, stream);
  if (way == Way::on_stream) {
    fill_late(buffers, stream);
    detail::run_to_end(*make(caller));
    take(buffers, stream, result);
  } else if (way == Way::nonblocking_on_stream) {
    fill_late(buffers, stream);
    Request request = engine.launch(make(caller));
    request.wait(caller);
    take(buffers, stream, result);
  } else {
    fill_late(buffers, stream);
    Request request(make(caller));
    for (int i = 0; i < 3; ++i) {
      request.start();
      request.wait();
      result = buffers.content();
      fill_late(buffers, stream);
    }
  }
  runtime().run_all();
  runtime().destroy_stream(stream);
  return result;
}

}  // namespace

void check(const Buffers& buffers, Way way, const Make& make, const std::string& what) {
  const std::vector<std::byte> result = result_of(buffers, way, make);
  runtime().clear_record();
  if (result == buffers.expected()) return;
  const auto wrong = std::mismatch(result.begin(), result.end(), buffers.expected().begin(), buffers.expected().end());
  ADD_FAILURE() << what << ", " << way_name(way) << ": byte " << (wrong.first - result.begin()) << " of "
                << result.size() << " is wrong";
}

}  // namespace tutti::test
