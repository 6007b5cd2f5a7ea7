// SPDX-License-Identifier: BSD-3-Clause
#include "backends/staged/pieces.hpp"

#include <algorithm>

#include "call/shape.hpp"

namespace tutti::detail::staged {
namespace {

/// The number of blocks of `count` elements in the longer of an operation's buffers; 0 if each rank has its own counts.
std::size_t blocks_of(Operation operation, int size) {
  if (operation == Operation::barrier || schedules::has_counts(operation)) return 0;
  return schedules::has_equal_blocks(operation) ? static_cast<std::size_t>(size) : 1;
}

std::size_t divided_up(std::size_t a, std::size_t b) { return a / b + (a % b != 0 ? 1 : 0); }

/// Adds the rows of one side of a piece.
class Side {
 public:
  Side(std::vector<Copy>& copies, std::size_t& bytes, std::size_t unit) : copies_(copies), bytes_(bytes), unit_(unit) {}

  /// A range of each of several blocks of `count` elements.
  void add_range(Range range, std::size_t count, std::size_t blocks) {
    const std::size_t width = range.count * unit_;
    bytes_ = width * blocks;
    if (bytes_ == 0) return;
    if (range.count == count)
      copies_.push_back({0, 0, bytes_, 1, 0, 0});
    else
      copies_.push_back({range.offset * unit_, 0, width, blocks, count * unit_, width});
  }

  /// Blocks at arbitrary positions, and their positions in the host's copy.
  std::vector<std::size_t> add_blocks(const std::vector<std::size_t>& counts, const std::vector<std::size_t>& displs) {
    std::vector<std::size_t> packed(counts.size());
    for (std::size_t i = 0; i < counts.size(); ++i) {
      packed[i] = bytes_ / unit_;
      const std::size_t width = counts[i] * unit_;
      if (width == 0) continue;
      const std::size_t from = displs[i] * unit_;
      if (!copies_.empty() && copies_.back().device + copies_.back().width == from)
        copies_.back().width += width;
      else
        copies_.push_back({from, bytes_, width, 1, 0, 0});
      bytes_ += width;
    }
    return packed;
  }

 private:
  std::vector<Copy>& copies_;
  std::size_t& bytes_;
  std::size_t unit_;
};

/// The number of blocks of the uniform count on this rank's side of an operation; 0 for a buffer that it does not have.
struct Blocks {
  std::size_t in = 1;
  std::size_t out = 1;
};

Blocks uniform_blocks(const Signature& s, int rank, int size) {
  const auto all = static_cast<std::size_t>(size);
  const bool is_root = rank == s.root;
  switch (s.operation) {
    case Operation::reduce:
      return {1, is_root ? std::size_t{1} : 0};
    case Operation::gather:
      return {1, is_root ? all : 0};
    case Operation::scatter:
      return {is_root ? all : 0, 1};
    case Operation::allgather:
      return {1, all};
    case Operation::alltoall:
      return {all, all};
    case Operation::reduce_scatter_block:
      return {all, 1};
    default:
      return {1, 1};
  }
}

void stage_bcast(Staging& staging, const Signature& s, bool is_root, Range range) {
  staging.shared = true;
  Side side(is_root ? staging.in : staging.out, staging.out_bytes, s.type.size());
  side.add_range(range, s.count, 1);
}

void stage_varying(Staging& staging, const Signature& s, const Binding& binding, int rank, int size) {
  const std::size_t unit = s.type.size();
  Side in(staging.in, staging.in_bytes, unit);
  Side out(staging.out, staging.out_bytes, unit);
  const auto whole = [](Side& side, std::size_t count) { side.add_range({0, count}, count, 1); };
  switch (s.operation) {
    case Operation::gatherv:
    case Operation::allgatherv:
      whole(in, binding.send_count);
      staging.host.recv_displs = out.add_blocks(binding.recv_counts, binding.recv_displs);
      break;
    case Operation::scatterv:
      staging.host.send_displs = in.add_blocks(binding.send_counts, binding.send_displs);
      whole(out, binding.recv_count);
      break;
    case Operation::alltoallv:
      staging.host.send_displs = in.add_blocks(binding.send_counts, binding.send_displs);
      staging.host.recv_displs = out.add_blocks(binding.recv_counts, binding.recv_displs);
      break;
    default:  // reduce_scatter
      whole(in, input_count(s.operation, size, s.count, binding));
      whole(out, binding.recv_counts[static_cast<std::size_t>(rank)]);
      break;
  }
}

}  // namespace

Cut cut(const Signature& signature, int size, const Limits& limits) {
  const std::size_t blocks = blocks_of(signature.operation, size);
  const std::size_t bytes = blocks * signature.count * signature.type.size();
  if (blocks == 0 || bytes < std::max<std::size_t>(limits.least_bytes, 1)) return {1, signature.count};
  // At least two, so that a copy and communication overlap.
  const std::size_t wanted = std::clamp<std::size_t>(divided_up(bytes, limits.piece_bytes), 2, limits.most_pieces);
  const std::size_t count = divided_up(signature.count, wanted);
  return {divided_up(signature.count, count), count};
}

Range range_of(const Cut& cut, std::size_t total, std::size_t piece) {
  const std::size_t offset = piece * cut.count;
  return {offset, std::min(cut.count, total - offset)};
}

Staging stage(const Signature& signature, const Binding& binding, int rank, int size, Range range) {
  Staging staging;
  staging.host = binding;
  staging.host.input = nullptr;
  staging.host.output = nullptr;
  staging.host.in_place = false;
  const Operation operation = signature.operation;
  if (operation == Operation::bcast) {
    stage_bcast(staging, signature, rank == signature.root, range);
    return staging;
  }
  if (operation == Operation::barrier) return staging;
  if (blocks_of(operation, size) == 0) {
    stage_varying(staging, signature, binding, rank, size);
  } else {
    const Blocks blocks = uniform_blocks(signature, rank, size);
    const std::size_t unit = signature.type.size();
    Side(staging.in, staging.in_bytes, unit).add_range(range, signature.count, blocks.in);
    Side(staging.out, staging.out_bytes, unit).add_range(range, signature.count, blocks.out);
  }
  const bool stays = binding.in_place && (operation == Operation::scatter || operation == Operation::scatterv);
  if (stays || (operation == Operation::exscan && rank == 0)) staging.out.clear();
  return staging;
}

}  // namespace tutti::detail::staged
