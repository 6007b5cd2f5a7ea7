// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/running.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

namespace tutti::fuzz {
namespace {

bool is_in_place(const Call& call, const Member& member) { return call.in_place[member.rank] != 0; }

std::vector<std::size_t> repeated(std::size_t count, std::size_t ranks) {
  return std::vector<std::size_t>(ranks, count);
}

}  // namespace

std::byte* Member::take(std::size_t bytes) {
  const std::size_t room = (bytes + 63) / 64 * 64;
  if (used + room > memory.size()) return nullptr;
  std::byte* taken = static_cast<std::byte*>(memory.data()) + used;
  used += room;
  return taken;
}

Guarded::Guarded(Member* shared, std::size_t bytes, std::uint64_t seed) : seed_(seed), image_(bytes + 2 * margin) {
  // Buffers begin anywhere in a cache line.
  const std::size_t shift = mix(seed) % 4 * 16;
  std::byte* base = shared != nullptr ? shared->take(image_.size() + shift) : nullptr;
  if (base == nullptr) {
    own_.resize(image_.size() + shift);
    base = own_.data();
  }
  data_ = base + shift + margin;
  reset();
  publish();
}

void Guarded::reset() {
  for (std::size_t i = 0; i < image_.size(); ++i)
    image_[i] = static_cast<std::byte>((seed_ + i * 131) >> (8 * (i % 4)));
}

void Guarded::publish() { std::memcpy(data_ - margin, image_.data(), image_.size()); }

std::string Guarded::difference(Datatype type, std::size_t ignored_from) const {
  const std::byte* got = data_ - margin;
  if (ignored_from >= size() && std::memcmp(got, image_.data(), image_.size()) == 0) return "";
  for (std::size_t i = 0; i < image_.size(); ++i) {
    const bool is_inside = i >= margin && i < margin + size();
    if (got[i] == image_[i] || (is_inside && i - margin >= ignored_from)) continue;
    if (!is_inside)
      return fmt::format("byte {} {} the buffer was written", i < margin ? margin - i : i - margin - size() + 1,
                         i < margin ? "before" : "behind");
    const std::size_t element = (i - margin) / type.size();
    const std::size_t at = margin + element * type.size();
    if (is_same(type, got + at, image_.data() + at)) {
      i = at + type.size() - 1;
      continue;
    }
    std::string text = fmt::format("element {} of {} is", element, size() / type.size());
    for (std::size_t b = 0; b < type.size(); ++b) text += fmt::format(" {:02x}", static_cast<unsigned>(got[at + b]));
    text += ", expected";
    for (std::size_t b = 0; b < type.size(); ++b) text += fmt::format(" {:02x}", static_cast<unsigned>(image_[at + b]));
    return text;
  }
  return "";
}

Running::Running(const Call& call, Member& member, const Setting& setting)
    : call_(call), member_(member), aliases_empty_(setting.aliases_empty) {
  turn_.ranks = member.size;
  turn_.in_rank_order = setting.reproducible || member.reproducible || call.reproducible;
  lay_out();
  Member* shared = call.shared_buffers[member.rank] != 0 ? &member : nullptr;
  send_ = Guarded(shared, send_extent_ * call.type.size(), mix({call.seed, member.rank, 1}));
  recv_ = Guarded(shared, recv_extent_ * call.type.size(), mix({call.seed, member.rank, 2}));
}

/// Places of blocks: in an order of this rank's own, with gaps.
std::vector<std::size_t> Running::places(const std::vector<std::size_t>& counts, std::uint64_t salt,
                                         std::size_t& extent) const {
  Random random(mix({call_.seed, member_.rank, salt}));
  std::vector<std::size_t> order(counts.size()), places(counts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (random.once_in(2)) random.shuffle(std::span(order));
  const bool has_gaps = random.once_in(2);
  extent = 0;
  for (const std::size_t block : order) {
    if (has_gaps) extent += random.below(std::size_t{6});
    places[block] = extent;
    extent += counts[block];
  }
  return places;
}

void Running::lay_out() {
  const std::size_t rank = member_.rank, ranks = member_.size, n = call_.count;
  const bool in_place = is_in_place(call_, member_);
  const bool at_root = static_cast<int>(rank) == call_.root;
  const auto blocks_in_order = [&](std::size_t count, std::vector<std::size_t>& places) {
    places.resize(ranks);
    for (std::size_t r = 0; r < ranks; ++r) places[r] = r * count;
  };
  switch (call_.operation) {
    case Operation::barrier:
      return;
    case Operation::bcast:
      recv_extent_ = n;
      if (at_root) given_.push_back({0, n, rank, rank, 0, 0});
      expected_.push_back({0, n, static_cast<std::size_t>(call_.root), 0, 0, 0});
      return;
    case Operation::reduce:
      send_extent_ = in_place ? 0 : n;
      recv_extent_ = at_root ? n : 0;
      given_.push_back({0, n, rank, rank, 0, 0});
      if (at_root) expected_.push_back({0, n, 0, ranks - 1, 0, 0});
      return;
    case Operation::allreduce:
    case Operation::scan:
    case Operation::exscan:
      send_extent_ = in_place ? 0 : n;
      recv_extent_ = n;
      given_.push_back({0, n, rank, rank, 0, 0});
      if (call_.operation == Operation::allreduce) expected_.push_back({0, n, 0, ranks - 1, 0, 0});
      if (call_.operation == Operation::scan) expected_.push_back({0, n, 0, rank, 0, 0});
      if (call_.operation == Operation::exscan && rank > 0) expected_.push_back({0, n, 0, rank - 1, 0, 0});
      return;
    case Operation::reduce_scatter:
    case Operation::reduce_scatter_block: {
      recv_counts_ = call_.operation == Operation::reduce_scatter ? call_.counts : repeated(n, ranks);
      const std::size_t before = std::accumulate(
          recv_counts_.begin(), recv_counts_.begin() + static_cast<std::ptrdiff_t>(rank), std::size_t{0});
      const std::size_t total = std::accumulate(recv_counts_.begin(), recv_counts_.end(), std::size_t{0});
      send_extent_ = in_place ? 0 : total;
      recv_extent_ = in_place ? total : recv_counts_[rank];
      given_.push_back({0, total, rank, rank, 0, 0});
      expected_.push_back({0, recv_counts_[rank], 0, ranks - 1, 0, before});
      return;
    }
    case Operation::gather:
    case Operation::gatherv:
    case Operation::allgather:
    case Operation::allgatherv: {
      const bool varies = call_.operation == Operation::gatherv || call_.operation == Operation::allgatherv;
      const bool receives = at_root || !has_root(call_.operation);
      recv_counts_ = varies ? call_.counts : repeated(n, ranks);
      if (varies)
        recv_places_ = places(recv_counts_, 3, recv_extent_);
      else
        blocks_in_order(n, recv_places_);
      if (!varies) recv_extent_ = n * ranks;
      if (!receives) recv_extent_ = 0;
      send_extent_ = in_place ? 0 : recv_counts_[rank];
      given_.push_back({in_place ? recv_places_[rank] : 0, recv_counts_[rank], rank, rank, 0, 0});
      if (receives)
        for (std::size_t r = 0; r < ranks; ++r) expected_.push_back({recv_places_[r], recv_counts_[r], r, r, 0, 0});
      return;
    }
    case Operation::scatter:
    case Operation::scatterv: {
      const bool varies = call_.operation == Operation::scatterv;
      send_counts_ = varies ? call_.counts : repeated(n, ranks);
      if (varies)
        send_places_ = places(send_counts_, 4, send_extent_);
      else
        blocks_in_order(n, send_places_);
      if (!varies) send_extent_ = n * ranks;
      if (!at_root) send_extent_ = 0;
      recv_extent_ = in_place ? 0 : send_counts_[rank];
      if (at_root)
        for (std::size_t r = 0; r < ranks; ++r) given_.push_back({send_places_[r], send_counts_[r], rank, rank, r, 0});
      const auto root = static_cast<std::size_t>(call_.root);
      if (!in_place) expected_.push_back({0, send_counts_[rank], root, root, rank, 0});
      return;
    }
    case Operation::alltoall:
    case Operation::alltoallv: {
      if (call_.operation == Operation::alltoall) {
        send_counts_ = recv_counts_ = repeated(n, ranks);
        blocks_in_order(n, send_places_);
        recv_places_ = send_places_;
        send_extent_ = recv_extent_ = n * ranks;
      } else {
        for (std::size_t r = 0; r < ranks; ++r) {
          send_counts_.push_back(call_.from_to(ranks, rank, r));
          recv_counts_.push_back(call_.from_to(ranks, r, rank));
        }
        recv_places_ = places(recv_counts_, 3, recv_extent_);
        send_places_ = in_place ? recv_places_ : places(send_counts_, 4, send_extent_);
      }
      if (in_place) send_extent_ = 0;
      for (std::size_t r = 0; r < ranks; ++r) {
        given_.push_back({send_places_[r], send_counts_[r], rank, rank, r, 0});
        expected_.push_back({recv_places_[r], recv_counts_[r], r, r, rank, 0});
      }
      return;
    }
  }
}

void Running::fill(int round) {
  turn_.round = round;
  send_.reset();
  recv_.reset();
  const bool is_bcast = call_.operation == Operation::bcast;
  const bool reads_send = call_.operation == Operation::scatter || call_.operation == Operation::scatterv;
  const bool from_recv = is_bcast || (is_in_place(call_, member_) && !reads_send);
  Guarded& source = from_recv ? recv_ : send_;
  for (const Piece& piece : given_) contribute(call_, turn_, piece, source.image());
  send_.publish();
  recv_.publish();
}

void Running::expect() {
  for (const Piece& piece : expected_) {
    if (combines(call_.operation))
      combine_exactly(call_, turn_, piece, recv_.image());
    else
      contribute(call_, turn_, piece, recv_.image());
  }
}

ConstBuffer Running::send() const {
  if (is_in_place(call_, member_) && call_.operation != Operation::scatter && call_.operation != Operation::scatterv)
    return in_place;
  // Empty arrays have any address, or none.
  const void* address = send_.data();
  if (send_extent_ == 0) address = !aliases_empty_ || mix({call_.seed, member_.rank}) % 2 == 0 ? nullptr : recv_.data();
  return {address, send_extent_, call_.type};
}

Buffer Running::recv() const {
  const bool scatters = call_.operation == Operation::scatter || call_.operation == Operation::scatterv;
  if (scatters && is_in_place(call_, member_)) return in_place;
  void* address = recv_.data();
  if (recv_extent_ == 0 && mix({call_.seed, member_.rank, 1}) % 2 == 0) address = nullptr;
  return {address, recv_extent_, call_.type};
}

#define TUTTI_FUZZ_MAKE(operation, ...)         \
  case Operation::operation:                    \
    if (form == CallForm::blocking)             \
      operation(__VA_ARGS__);                   \
    else if (form == CallForm::nonblocking)     \
      request_ = i##operation(__VA_ARGS__);     \
    else                                        \
      request_ = operation##_init(__VA_ARGS__); \
    return

void Running::make_named(CallForm form, const Options& options) {
  const Communicator& comm = member_.comm;
  const ReduceOp op = reduce_op(call_, member_.rank);
  const int root = call_.root;
  switch (call_.operation) {
    TUTTI_FUZZ_MAKE(barrier, comm, options);
    TUTTI_FUZZ_MAKE(bcast, comm, recv(), root, options);
    TUTTI_FUZZ_MAKE(reduce, comm, send(), recv(), op, root, options);
    TUTTI_FUZZ_MAKE(allreduce, comm, send(), recv(), op, options);
    TUTTI_FUZZ_MAKE(reduce_scatter, comm, send(), recv(), recv_counts_, op, options);
    TUTTI_FUZZ_MAKE(reduce_scatter_block, comm, send(), recv(), op, options);
    TUTTI_FUZZ_MAKE(scan, comm, send(), recv(), op, options);
    TUTTI_FUZZ_MAKE(exscan, comm, send(), recv(), op, options);
    TUTTI_FUZZ_MAKE(gather, comm, send(), recv(), root, options);
    TUTTI_FUZZ_MAKE(gatherv, comm, send(), recv(), recv_counts_, recv_places_, root, options);
    TUTTI_FUZZ_MAKE(scatter, comm, send(), recv(), root, options);
    TUTTI_FUZZ_MAKE(scatterv, comm, send(), send_counts_, send_places_, recv(), root, options);
    TUTTI_FUZZ_MAKE(allgather, comm, send(), recv(), options);
    TUTTI_FUZZ_MAKE(allgatherv, comm, send(), recv(), recv_counts_, recv_places_, options);
    TUTTI_FUZZ_MAKE(alltoall, comm, send(), recv(), options);
    TUTTI_FUZZ_MAKE(alltoallv, comm, send(), send_counts_, send_places_, recv(), recv_counts_, recv_places_, options);
  }
}
#undef TUTTI_FUZZ_MAKE

/// All ranks refuse an algorithm that cannot make the call, and then make it by another.
void Running::make(CallForm form) {
  Options options;
  options.reproducible = call_.reproducible;
  options.algorithm = call_.algorithm;
  try {
    make_named(form, options);
  } catch (const Error& e) {
    if (call_.algorithm.empty() || e.code() != ErrorCode::invalid_algorithm) throw;
    options.algorithm.clear();
    make_named(form, options);
  }
}

void Running::init() { make(CallForm::persistent); }

void Running::start(int round) {
  fill(round);
  if (call_.form == CallForm::persistent)
    request_.start();
  else
    make(call_.form);
}

std::string Running::verify() {
  expect();
  // What in-place reductions that scatter leave behind the result is nobody's.
  const bool leaves_rest = is_in_place(call_, member_) && (call_.operation == Operation::reduce_scatter ||
                                                           call_.operation == Operation::reduce_scatter_block);
  const std::size_t all = std::max(send_.size(), recv_.size()) + 1;
  const std::size_t ignored = leaves_rest ? recv_counts_[member_.rank] * call_.type.size() : all;
  if (std::string text = recv_.difference(call_.type, ignored); !text.empty()) return "recv: " + text;
  if (std::string text = send_.difference(call_.type, all); !text.empty()) return "send: " + text;
  return "";
}

std::string Running::verify_surroundings() const {
  if (std::string text = recv_.difference(call_.type, 0); !text.empty()) return "recv: " + text;
  if (std::string text = send_.difference(call_.type, send_.size() + 1); !text.empty()) return "send: " + text;
  return "";
}

}  // namespace tutti::fuzz
