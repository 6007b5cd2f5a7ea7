// SPDX-License-Identifier: BSD-3-Clause
#include "gpu/trial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <tutti/tutti.hpp>

namespace tutti::test::gpu {
namespace {

constexpr std::size_t guard = 64;
constexpr int poison = 0xA5;

template <typename T>
bool is_one_of(T operation, std::initializer_list<T> all) {
  return std::find(all.begin(), all.end(), operation) != all.end();
}

/// As near as rounding of contributions of the size of the largest result leaves them.
template <typename T>
bool are_near(const std::byte* got, const std::byte* expected, std::size_t bytes) {
  std::vector<T> a(bytes / sizeof(T));
  std::vector<T> b(a.size());
  std::memcpy(a.data(), got, a.size() * sizeof(T));
  std::memcpy(b.data(), expected, b.size() * sizeof(T));
  T largest = 1;
  for (const T x : b) largest = std::max(largest, std::abs(x));
  return std::equal(a.begin(), a.end(), b.begin(), [&](T x, T y) {
    return std::memcmp(&x, &y, sizeof x) == 0 || std::abs(x - y) <= 8 * std::numeric_limits<T>::epsilon() * largest;
  });
}

bool is_scatter(Operation operation) { return is_one_of(operation, {Operation::scatter, Operation::scatterv}); }

commbench::World world_of(const Communicator& comm) { return {comm.rank(), comm.size(), comm.size() - 1}; }

}  // namespace

const Communicator& device_world() {
  static const Communicator comm = [] {
    auto made = Communicator::duplicate(MPI_COMM_WORLD);
    made.prepare_device();
    return made;
  }();
  return comm;
}

detail::device::Runtime& runtime() { return detail::device::required_runtime("a test"); }

std::optional<ReduceKind> sum_of(Operation operation) {
  return traits_of(operation).combines() ? std::optional(ReduceKind::sum) : std::nullopt;
}

Point point_of(Operation operation, Datatype type, std::optional<ReduceKind> op, std::size_t count, int ranks) {
  const std::size_t blocks = traits_of(operation).has_one_vector() ? 1 : static_cast<std::size_t>(ranks);
  return {operation, type, op, count * blocks * type.size(), MemorySpace::device, Mode::blocking};
}

Trial::Trial(const Communicator& comm, const Point& point, const Form& form, const std::string& algorithm)
    : comm_(comm),
      point_(point),
      form_(form),
      algorithm_(algorithm),
      world_(world_of(comm)),
      shape_(commbench::make_shape(point.operation, point.bytes / point.type.size(), world_,
                                   {commbench::Splits::Kind::uneven})),
      pattern_(point.type, point.op, comm.size()),
      send_bytes_(shape_.send * point.type.size()),
      recv_bytes_(std::max(shape_.recv * point.type.size(), form.in_place ? send_bytes_ : 0)),
      send_(nullptr, point.memory, send_bytes_ + guard),
      recv_(nullptr, point.memory, recv_bytes_ + guard),
      host_send_(nullptr, MemorySpace::pinned, send_bytes_ + guard),
      host_recv_(nullptr, MemorySpace::pinned, recv_bytes_ + guard) {
  point_.mode = form.mode;
  commbench::Arguments arguments{point_, world_, &shape_, send_.data(), recv_.data()};
  if (form.streamed) arguments.stream = stream_.stream();
  arguments.in_place = form.in_place;
  call_ = commbench::make_tutti_call(comm, arguments, algorithm);
}

bool Trial::works_in_place() const {
  const bool is_rooted = traits_of(point_.operation).has_root();
  return form_.in_place && point_.operation != Operation::bcast && (!is_rooted || world_.rank == world_.root);
}

void Trial::put_contribution_into_recv() {
  if (is_scatter(point_.operation)) return;
  const bool is_a_block =
      is_one_of(point_.operation, {Operation::gather, Operation::gatherv, Operation::allgather, Operation::allgatherv});
  const std::size_t at = is_a_block ? shape_.recv_displs[static_cast<std::size_t>(world_.rank)] : 0;
  std::memcpy(host_recv_.data() + at * point_.type.size(), host_send_.data(), send_bytes_);
}

void Trial::make_data(std::uint64_t iteration) {
  pattern_.fill(host_send_.data(), shape_.send, world_.rank, iteration);
  std::memset(host_recv_.data(), poison, host_recv_.size());
  if (point_.operation == Operation::bcast && world_.rank == world_.root)
    pattern_.fill(host_recv_.data(), shape_.recv, world_.root, iteration);
  if (works_in_place()) put_contribution_into_recv();
}

void Trial::copy(std::byte* to, const std::byte* from, std::size_t bytes) const {
  runtime().copy(to, from, bytes, stream_.handle());
}

/// Work that takes a GPU a while, so that what does not wait for the stream comes too early.
void Trial::delay() const {
  if (is_standin()) return;
  constexpr std::size_t bytes = std::size_t{64} << 20U;
  static const commbench::Memory scratch(nullptr, MemorySpace::device, bytes);
  for (int i = 0; i < 8; ++i) runtime().fill_zero(scratch.data(), bytes, stream_.handle());
}

void Trial::run_streamed() {
  delay();
  copy(send_.data(), host_send_.data(), send_bytes_);
  copy(recv_.data(), host_recv_.data(), host_recv_.size());
  if (form_.mode == Mode::blocking) {
    call_->run();
  } else {
    call_->start();
    call_->order();
  }
  copy(host_recv_.data(), recv_.data(), host_recv_.size());
  // The call has read all that it reads before what follows on the stream.
  runtime().fill_zero(send_.data(), send_.size(), stream_.handle());
  runtime().fill_zero(recv_.data(), recv_.size(), stream_.handle());
  stream_.wait();
  if (form_.mode != Mode::blocking) call_->wait();
}

void Trial::run_and_wait() {
  copy(send_.data(), host_send_.data(), send_bytes_);
  copy(recv_.data(), host_recv_.data(), host_recv_.size());
  stream_.wait();
  call_->run();
  copy(host_recv_.data(), recv_.data(), host_recv_.size());
  stream_.wait();
}

std::string Trial::fault(const std::byte* got, const char* where, std::uint64_t iteration) const {
  if (is_scatter(point_.operation) && works_in_place()) return {};
  for (const commbench::ResultSlice& slice : shape_.result) {
    const auto wrong = pattern_.first_wrong(got, slice, iteration);
    if (wrong)
      return fmt::format("{}: element {} of {} is wrong in iteration {} on rank {} of {}: {} {} {}, {}{}{}, '{}'",
                         where, *wrong, shape_.recv, iteration, world_.rank, world_.ranks,
                         operation_name(point_.operation), datatype_name(point_.type.kind()),
                         point_.op ? reduce_op_name(*point_.op) : "", commbench::mode_name(form_.mode),
                         form_.streamed ? ", streamed" : "", form_.in_place ? ", in place" : "", algorithm_);
  }
  return {};
}

/// NCCL sums x/n, which is not the sum's n-th part to the last bit where n is no power of two.
bool Trial::is_rounded_otherwise() const {
  const bool is_wide = is_one_of(point_.type.kind(), {DatatypeKind::float32, DatatypeKind::float64,
                                                      DatatypeKind::complex64, DatatypeKind::complex128});
  return is_wide && point_.op == ReduceKind::avg && (world_.ranks & (world_.ranks - 1)) != 0;
}

/// The same call on the same data in host memory; its result.
std::vector<std::byte> Trial::host_result() {
  Point point = point_;
  point.memory = MemorySpace::host;
  point.mode = Mode::blocking;
  std::vector<std::byte> send(host_send_.data(), host_send_.data() + host_send_.size());
  std::vector<std::byte> recv(host_recv_.data(), host_recv_.data() + host_recv_.size());
  commbench::Arguments arguments{point, world_, &shape_, send.data(), recv.data()};
  arguments.in_place = form_.in_place;
  commbench::make_tutti_call(comm_, arguments, {})->run();
  return recv;
}

std::string Trial::host_fault(std::uint64_t iteration) {
  make_data(iteration);
  return fault(host_result().data(), "in host memory", iteration);
}

/// Of data whose result the host has to the last bit only.
std::string Trial::near_fault(std::uint64_t iteration) {
  const std::vector<std::byte> got(host_recv_.data(), host_recv_.data() + recv_bytes_);
  make_data(iteration);
  const std::vector<std::byte> expected = host_result();
  const bool is_single = is_one_of(point_.type.kind(), {DatatypeKind::float32, DatatypeKind::complex64});
  const bool is_near = is_single ? are_near<float>(got.data(), expected.data(), recv_bytes_)
                                 : are_near<double>(got.data(), expected.data(), recv_bytes_);
  return is_near ? "" : fmt::format("far from the host's: average of {}", datatype_name(point_.type.kind()));
}

std::string Trial::run(std::uint64_t iteration) {
  make_data(iteration);
  if (form_.streamed)
    run_streamed();
  else
    run_and_wait();
  const std::vector<std::byte> behind(host_recv_.data() + recv_bytes_, host_recv_.data() + recv_bytes_ + guard);
  std::string found =
      is_rounded_otherwise() ? near_fault(iteration) : fault(host_recv_.data(), "on the device", iteration);
  if (found.empty() && std::any_of(behind.begin(), behind.end(), [](std::byte b) { return b != std::byte{poison}; }))
    found = fmt::format("bytes behind the result of {} were written", operation_name(point_.operation));
  const std::string host = host_fault(iteration);
  return found.empty() ? host : found;
}

}  // namespace tutti::test::gpu
