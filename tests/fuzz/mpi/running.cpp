// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/mpi/running.hpp"

#include <fmt/format.h>

#include <numeric>
#include <utility>

namespace tutti::fuzz::mpi {
namespace {

/// The rank of the world that stands for all.
constexpr int everyone = -7;

bool is_varying(Operation operation) {
  switch (operation) {
    case Operation::gatherv:
    case Operation::scatterv:
    case Operation::allgatherv:
    case Operation::alltoallv:
    case Operation::alltoallw:
    case Operation::neighbor_allgatherv:
    case Operation::neighbor_alltoallv:
    case Operation::neighbor_alltoallw:
      return true;
    default:
      return false;
  }
}

bool is_exchange(Operation operation) { return operation >= Operation::alltoall && operation <= Operation::alltoallw; }

/// In place on all ranks or on none, by MPI's rule; elsewhere each rank has its choice.
bool is_alike_in_place(Operation operation) {
  return operation == Operation::allreduce || operation == Operation::allgather || operation == Operation::allgatherv ||
         is_exchange(operation);
}

bool is_scattered(Operation operation) {
  return operation == Operation::reduce_scatter || operation == Operation::reduce_scatter_block;
}

}  // namespace

Running::Running(const Call& call, const Group& group, int rank_of_world)
    : call_(call),
      group_(group),
      rank_(rank_of_world),
      random_(mix({call.seed, static_cast<std::uint64_t>(rank_of_world), 1})) {
  is_in_place_ = call.is_in_place;
  if (has_root(call.operation))
    is_in_place_ = is_in_place_ && is_root();
  else if (!is_alike_in_place(call.operation))
    is_in_place_ = is_in_place_ && random_.once_in(2);
  if (combines(call.operation))
    lay_out_combined();
  else
    lay_out_moved();
  take_arguments();
}

int Running::root_rank() const {
  int size = 0;
  if (group_.is_inter() && group_.is_first())
    PMPI_Comm_size(group_.get(), &size);
  else
    size = group_.size();
  return call_.root % size;
}

bool Running::is_root() const { return has_root(call_.operation) && group_.is_first() && group_.rank() == root_rank(); }

int Running::root_argument() const {
  if (!group_.is_inter() || !group_.is_first()) return root_rank();
  return is_root() ? MPI_ROOT : MPI_PROC_NULL;
}

Running::Shapes Running::shapes() const {
  const bool only_root = has_root(call_.operation);
  // With an intercommunicator, data go from one group to the other.
  const bool is_leaf = !group_.is_inter() || !group_.is_first();
  const auto at_root = [&](Shape shape) { return !only_root || is_root() ? shape : Shape::none; };
  const auto at_leaves = [&](Shape shape) { return !only_root || is_leaf ? shape : Shape::none; };
  switch (call_.operation) {
    case Operation::bcast:
      return {Shape::none, is_leaf || is_root() ? Shape::one : Shape::none};
    case Operation::gather:
    case Operation::allgather:
    case Operation::neighbor_allgather:
      return {at_leaves(Shape::one), at_root(Shape::equal)};
    case Operation::gatherv:
    case Operation::allgatherv:
    case Operation::neighbor_allgatherv:
      return {at_leaves(Shape::one), at_root(Shape::varying)};
    case Operation::scatter:
      return {at_root(Shape::equal), at_leaves(Shape::one)};
    case Operation::scatterv:
      return {at_root(Shape::varying), at_leaves(Shape::one)};
    case Operation::alltoall:
    case Operation::neighbor_alltoall:
      return {Shape::equal, Shape::equal};
    case Operation::alltoallv:
    case Operation::neighbor_alltoallv:
      return {Shape::varying, Shape::varying};
    case Operation::alltoallw:
    case Operation::neighbor_alltoallw:
      return {Shape::of_types, Shape::of_types};
    default:
      return {Shape::none, Shape::none};
  }
}

/// Elements that one rank of the world gives another one.
std::size_t Running::number(int from, int to) const {
  const auto unit = static_cast<std::size_t>(call_.unit);
  const auto size = static_cast<std::size_t>(Facts(elements()[call_.element].type).size);
  const std::size_t units = call_.bytes == 0 ? 0 : call_.bytes / (unit * size) + 1;
  if (!is_varying(call_.operation)) return units * unit;
  // Exchanges in place give back as much as they get.
  if (is_exchange(call_.operation) && call_.is_in_place && from > to) std::swap(from, to);
  const auto drawn = mix({call_.seed, static_cast<std::uint64_t>(from), static_cast<std::uint64_t>(to)});
  return drawn % 4 == 0 ? 0 : unit * static_cast<std::size_t>((drawn >> 8U) % (2 * units + 1));
}

std::vector<std::size_t> Running::numbers(Shape shape, bool sends) const {
  const bool is_gather = call_.operation == Operation::gather || call_.operation == Operation::gatherv;
  const bool is_scatter = call_.operation == Operation::scatter || call_.operation == Operation::scatterv;
  const bool is_gift = is_gather || call_.operation == Operation::allgather ||
                       call_.operation == Operation::allgatherv || call_.operation == Operation::neighbor_allgather ||
                       call_.operation == Operation::neighbor_allgatherv;
  const auto amount = [&](int from, int to) { return number(is_scatter ? everyone : from, is_gift ? everyone : to); };
  if (shape == Shape::none) return {};
  if (shape == Shape::one) return {sends ? amount(rank_, everyone) : amount(everyone, rank_)};
  const bool has_neighbors = is_of_neighbors(call_.operation);
  const std::vector<int>& others = !has_neighbors ? group_.peers() : sends ? group_.destinations() : group_.sources();
  std::vector<std::size_t> all;
  for (const int other : others) all.push_back(sends ? amount(rank_, other) : amount(other, rank_));
  return all;
}

void Running::lay_out_moved() {
  const auto [send, recv] = shapes();
  const MPI_Datatype element = elements()[call_.element].type;
  const bool overlaps = random_.once_in(8);
  send_ = Layout(is_in_place_ && !has_root(call_.operation) ? Shape::none : send, numbers(send, true), element,
                 call_.unit, Random(random_.bits()), overlaps);
  recv_ = Layout(recv, numbers(recv, false), element, call_.unit, Random(random_.bits()), false);
  if (is_of_neighbors(call_.operation)) leave_out_absent();
  const std::size_t shift = random_.once_in(4) ? random_.below(std::size_t{64}) : 0;
  for (Storage* storage : {&sent_, &sent_by_mpi_}) *storage = Storage(send_.span(), shift);
  for (Storage* storage : {&received_, &received_by_mpi_, &input_by_mpi_}) *storage = Storage(recv_.span(), shift);
}

void Running::leave_out_absent() {
  const auto leave_out = [](Layout& layout, const std::vector<int>& neighbors) {
    for (std::size_t b = 0; b < layout.blocks().size() && layout.blocks().size() == neighbors.size(); ++b)
      if (neighbors[b] == MPI_PROC_NULL) layout.leave_out(b);
  };
  if (send_.shape() != Shape::one) leave_out(send_, group_.destinations());
  leave_out(recv_, group_.sources());
}

void Running::lay_out_combined() {
  const Reduction& reduction = reductions()[call_.reduction];
  operand_ = operand_type(reduction);
  op_ = Op(reduction, call_.has_large_counts);
  const Facts facts(operand_.get());
  const std::size_t units = call_.bytes == 0 ? 0 : call_.bytes / static_cast<std::size_t>(facts.size) + 1;
  const auto ranks = static_cast<std::size_t>(group_.size());
  for (std::size_t r = 0; r < (is_scattered(call_.operation) ? ranks : 1); ++r) {
    const bool is_equal = call_.operation != Operation::reduce_scatter;
    operands_.push_back(is_equal ? units : mix({call_.seed, r, 3}) % 3 == 0 ? 0 : mix({call_.seed, r}) % (units + 1));
  }
  Span span;
  span.add(0, std::accumulate(operands_.begin(), operands_.end(), std::ptrdiff_t{0}), facts);
  for (Storage* storage : {&sent_, &sent_by_mpi_, &received_, &received_by_mpi_, &input_by_mpi_})
    *storage = Storage(span, 0);
}

void Running::take_operands(Side& send, Side& recv) const {
  send.type = operand_.get();
  recv.type = operand_.get();
  send.count = static_cast<MPI_Count>(operands_[0]);
  recv.count = send.count;
  for (const std::size_t count : operands_) {
    recv.counts.push_back(static_cast<int>(count));
    recv.large_counts.push_back(static_cast<MPI_Count>(count));
  }
}

void Running::take_arguments() {
  arguments_ = {};
  arguments_.comm = group_.get();
  arguments_.op = op_.get();
  if (has_root(call_.operation)) arguments_.root = root_argument();
  if (combines(call_.operation)) {
    arguments_.send.address = sent_.address();
    arguments_.recv.address = received_.address();
    take_operands(arguments_.send, arguments_.recv);
  } else {
    // MPICH takes two sides at MPI_BOTTOM for one buffer, and awaits items without data that it does not send.
    const bool is_sender_at_bottom = random_.once_in(2);
    const bool may_be_of_no_data = !is_varying(call_.operation) && group_.has_side() && call_.form != Form::nonblocking;
    arguments_.send = send_.other_side(sent_.address(), random_, {is_sender_at_bottom, may_be_of_no_data});
    arguments_.recv = recv_.other_side(received_.address(), random_, {!is_sender_at_bottom, may_be_of_no_data});
  }
  if (is_in_place_) {
    const bool is_scatter = call_.operation == Operation::scatter || call_.operation == Operation::scatterv;
    Side& side = is_scatter ? arguments_.recv : arguments_.send;
    side.address = MPI_IN_PLACE;
    if (!combines(call_.operation)) {
      side.type = MPI_DATATYPE_NULL;
      side.count = 0;
    }
  }
  spoil_what_only_the_root_gives();
}

void Running::spoil_what_only_the_root_gives() {
  if (!has_root(call_.operation) || is_root() || call_.operation == Operation::bcast || !random_.once_in(2)) return;
  const bool is_gather = call_.operation == Operation::gather || call_.operation == Operation::gatherv;
  if (is_gather) arguments_.recv = Side{};
  if (is_gather) arguments_.recv.count = -3;
  if (call_.operation == Operation::reduce) arguments_.recv.address = nullptr;
  if (call_.operation == Operation::scatter) arguments_.send.count = -3;
}

void Running::init() { make(call_.operation, Form::persistent, call_.has_large_counts, arguments_, &request_); }

std::size_t Running::own_block() const { return static_cast<std::size_t>(group_.rank()); }

void Running::fill_moved(Random& random) {
  send_.put_data(random, sent_.address());
  const bool gives_by_recv = call_.operation == Operation::bcast ? is_root() : is_in_place_;
  if (!gives_by_recv) return;
  if (call_.operation == Operation::bcast || is_exchange(call_.operation))
    recv_.put_data(random, received_.address());
  else if (recv_.shape() != Shape::one)
    recv_.put_block(random, received_.address(), own_block());
}

void Running::fill_combined(Random& random) {
  const Facts facts(operand_.get());
  const auto put = [&](Storage& storage) {
    std::byte* element = storage.address();
    for (std::size_t i = std::accumulate(operands_.begin(), operands_.end(), std::size_t{0}); i > 0; --i) {
      reductions()[call_.reduction].draw(random, element);
      element += facts.extent;
    }
  };
  put(sent_);
  if (is_in_place_) put(received_);
}

void Running::fill(int round) {
  Random random(mix({call_.seed, static_cast<std::uint64_t>(rank_), static_cast<std::uint64_t>(round), 2}));
  const std::uint64_t pattern = random.bits();
  sent_.fill(pattern);
  received_.fill(pattern);
  if (combines(call_.operation))
    fill_combined(random);
  else
    fill_moved(random);
  sent_by_mpi_.copy_from(sent_);
  received_by_mpi_.copy_from(received_);
  input_by_mpi_.copy_from(received_);
}

void Running::start() {
  if (call_.form == Form::persistent)
    MPI_Start(&request_);
  else
    make(call_.operation, call_.form, call_.has_large_counts, arguments_, &request_);
  if (!call_.frees_early) return;
  send_.replace_types();
  recv_.replace_types();
  operand_ = operand_.copy();
  if (combines(call_.operation)) op_ = Op(reductions()[call_.reduction], call_.has_large_counts);
  take_arguments();  // for the next round
}

/// The arguments in their plain form, and what was given in place from a buffer of its own.
Arguments Running::by_mpi() {
  Arguments all;
  all.comm = group_.of_mpi();
  all.op = op_.get();
  all.root = arguments_.root;
  std::byte* given = is_in_place_ ? input_by_mpi_.address() : sent_by_mpi_.address();
  if (combines(call_.operation)) {
    take_operands(all.send, all.recv);
    all.send.address = given;
    all.recv.address = received_by_mpi_.address();
    return all;
  }
  all.send = send_.side(sent_by_mpi_.address());
  all.recv = recv_.side(received_by_mpi_.address());
  if (!is_in_place_ || recv_.shape() == Shape::one) return all;
  all.send = recv_.side(given);
  if (is_exchange(call_.operation)) return all;
  const Block& own = recv_.blocks()[own_block()];
  all.send.address = given + own.place;
  all.send.count = own.count;
  return all;
}

/// Whether a byte of a result belongs to a value: what lies between the parts of a pair does not.
bool Running::has_value(std::ptrdiff_t place) const {
  if (!combines(call_.operation)) return true;
  const std::vector<char>& known = reductions()[call_.reduction].has_value;
  const std::size_t count = std::accumulate(operands_.begin(), operands_.end(), std::size_t{0});
  if (place < 0 || static_cast<std::size_t>(place) >= known.size() * count) return true;
  return known[static_cast<std::size_t>(place) % known.size()] != 0;
}

std::string Running::compare() {
  make_by_mpi(call_.operation, by_mpi());
  const std::string own =
      fmt::format("rank {} of {}{}: ", group_.rank(), group_.size(), is_in_place_ ? " in place" : "");
  if (const auto what = sent_.difference(sent_by_mpi_, [](std::ptrdiff_t) { return true; }); !what.empty())
    return own + "the send buffer was written: " + what;
  const bool has_result = !(is_in_place_ && recv_.shape() == Shape::one);
  const auto counts = [&](std::ptrdiff_t place) { return has_value(place); };
  if (const auto what = received_.difference(received_by_mpi_, counts); has_result && !what.empty())
    return own + "the result differs from the MPI's: " + what;
  if (had_wrong_type()) return "the operation got another datatype than that of the call";
  return "";
}

void Running::free() {
  if (request_ != MPI_REQUEST_NULL) MPI_Request_free(&request_);
}

}  // namespace tutti::fuzz::mpi
