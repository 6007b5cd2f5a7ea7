// SPDX-License-Identifier: BSD-3-Clause
#include "replay/replayed_call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "buffers.hpp"
#include "counts.hpp"
#include "messages_call.hpp"
#include "pattern.hpp"

namespace tutti::commbench::replay {
namespace {

void take_block(const Exchange& exchange, int from, std::size_t place, const Counts& offsets, Shape& shape) {
  shape.result.push_back({place, at(exchange.recv_counts, from), from, from, at(offsets, from)});
}

/// A call with counts.
Shape counted_shape(const Exchange& exchange, const World& world, const Counts& offsets) {
  const OperationTraits& row = traits_of(*exchange.operation);
  Shape shape;
  const bool is_root = world.rank == world.root;
  if (row.combines()) {
    shape.recv_counts = exchange.recv_counts;
    shape.send = shape.total = sum_of(shape.recv_counts);
    shape.recv = at(shape.recv_counts, world.rank);
    shape.result.push_back({0, shape.recv, 0, world.ranks - 1, at(starts_of(shape.recv_counts), world.rank)});
    return shape;
  }
  if (row.given == BlockKind::counted && (!row.has_root() || is_root)) {
    shape.send_counts = exchange.send_counts;
    shape.send_displs = starts_of(shape.send_counts);
    shape.send = sum_of(shape.send_counts);
  } else if (row.given == BlockKind::own) {
    shape.send = at(exchange.send_counts, row.has_root() ? world.root : world.rank);
  }
  if (row.taken == BlockKind::counted && (!row.has_root() || is_root)) {
    shape.recv_counts = exchange.recv_counts;
    shape.recv_displs = starts_of(shape.recv_counts);
    shape.recv = sum_of(shape.recv_counts);
    for (int from = 0; from < world.ranks; ++from)
      take_block(exchange, from, at(shape.recv_displs, from), offsets, shape);
  } else if (row.taken == BlockKind::own) {
    shape.recv = at(exchange.recv_counts, world.root);
    take_block(exchange, world.root, 0, offsets, shape);
  }
  shape.total = std::max(shape.send, shape.recv);
  return shape;
}

Point point_of(const Exchange& exchange, Mode mode, MemorySpace memory) {
  return {*exchange.operation, exchange.type, exchange.op, 0, memory, mode};
}

class ReplayedCollective final : public ReplayedCall {
 public:
  ReplayedCollective(const Communicator& comm, const RecordedCall& recorded, const Counts& offsets,
                     const CallOptions& options)
      : point_(point_of(recorded.exchange, recorded.mode, options.memory)),
        world_{comm.rank(), comm.size(), recorded.exchange.root},
        shape_(shape_of(recorded.exchange, world_, offsets)),
        buffers_(point_, shape_, world_, Pattern(point_.type, point_.op, world_.ranks), Reuse::reuse, 1) {
    Arguments arguments{point_, world_, &shape_, buffers_.send(0), buffers_.recv(0)};
    arguments.stream = options.stream;
    call_ = make_tutti_call(comm, arguments, options.algorithm);
  }

  void fill(std::span<const std::uint64_t> iterations) override { buffers_.fill(0, iterations.front()); }
  [[nodiscard]] std::optional<std::string> find_fault(std::span<const std::uint64_t> iterations) const override {
    if (point_.operation == Operation::barrier) return std::nullopt;
    return buffers_.find_fault(0, iterations.front());
  }
  [[nodiscard]] MeasuredCall& call() override { return *call_; }
  [[nodiscard]] std::size_t bytes() const override { return Buffers::slot_bytes(point_, shape_); }

 private:
  Point point_;
  World world_;
  Shape shape_;
  Buffers buffers_;
  std::unique_ptr<MeasuredCall> call_{};
};

/// Messages, one behind the other in one buffer. Each has the data of its sender and its own number.
class ReplayedMessages final : public ReplayedCall {
 public:
  ReplayedMessages(const Communicator& comm, const RecordedCall& recorded, const CallOptions& options)
      : messages_(recorded.exchange.messages),
        rank_(comm.rank()),
        pattern_(DatatypeKind::uint8, std::nullopt, comm.size()),
        memory_(nullptr, options.memory, bytes_of(messages_)) {
    std::vector<Transfer> transfers;
    std::byte* place = memory_.data();
    for (const Message& one : messages_) {
      transfers.push_back({one.is_recv, one.peer, one.tag, place, one.bytes});
      place += pitch(one.bytes);
    }
    call_ = make_messages_call(comm, std::move(transfers), recorded.mode, options.memory, options.stream);
  }

  void fill(std::span<const std::uint64_t> iterations) override {
    std::byte* place = memory_.data();
    for (std::size_t i = 0; i < messages_.size(); ++i) {
      std::vector<std::byte> data(messages_[i].bytes, std::byte{0xA5});
      if (!messages_[i].is_recv) pattern_.fill(data.data(), data.size(), rank_, iterations[i]);
      put(place, data);
      place += pitch(data.size());
    }
  }
  [[nodiscard]] std::optional<std::string> find_fault(std::span<const std::uint64_t> iterations) const override {
    const std::byte* place = memory_.data();
    for (std::size_t i = 0; i < messages_.size(); ++i) {
      const Message& one = messages_[i];
      if (one.is_recv) {
        const std::vector<std::byte> got = get(place, one.bytes);
        const auto wrong = pattern_.first_wrong(got.data(), {0, one.bytes, one.peer, one.peer, 0}, iterations[i]);
        if (wrong)
          return fmt::format("byte {} of {} from rank {} with tag {} is wrong", *wrong, one.bytes, one.peer, one.tag);
      }
      place += pitch(one.bytes);
    }
    return std::nullopt;
  }
  [[nodiscard]] MeasuredCall& call() override { return *call_; }
  [[nodiscard]] std::size_t bytes() const override { return memory_.size(); }

 private:
  static std::size_t pitch(std::size_t bytes) { return (bytes + 63) / 64 * 64; }
  static std::size_t bytes_of(const std::vector<Message>& messages) {
    std::size_t sum = 64;
    for (const Message& one : messages) sum += pitch(one.bytes);
    return sum;
  }
  void put(std::byte* place, const std::vector<std::byte>& data) const {
    if (!memory_.is_visible())
      copy_bytes(place, data.data(), data.size());
    else if (!data.empty())
      std::memcpy(place, data.data(), data.size());
  }
  [[nodiscard]] std::vector<std::byte> get(const std::byte* place, std::size_t bytes) const {
    std::vector<std::byte> data(bytes);
    if (!memory_.is_visible())
      copy_bytes(data.data(), place, bytes);
    else if (bytes > 0)
      std::memcpy(data.data(), place, bytes);
    return data;
  }

  std::vector<Message> messages_;
  int rank_;
  Pattern pattern_;
  Memory memory_;
  std::unique_ptr<MeasuredCall> call_{};
};

}  // namespace

Shape shape_of(const Exchange& exchange, const World& world, const std::vector<std::size_t>& offsets) {
  if (exchange.has_counts()) return counted_shape(exchange, world, offsets);
  const std::size_t blocks =
      traits_of(*exchange.operation).has_one_vector() ? 1 : static_cast<std::size_t>(world.ranks);
  return make_shape(*exchange.operation, exchange.count * blocks, world, {});
}

std::unique_ptr<ReplayedCall> make_replayed(const Communicator& comm, const RecordedCall& call,
                                            const std::vector<std::size_t>& offsets, const CallOptions& options) {
  if (!call.exchange.operation) return std::make_unique<ReplayedMessages>(comm, call, options);
  return std::make_unique<ReplayedCollective>(comm, call, offsets, options);
}

}  // namespace tutti::commbench::replay
