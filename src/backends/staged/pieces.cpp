// SPDX-License-Identifier: BSD-3-Clause
#include "backends/staged/pieces.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "core/arithmetic.hpp"
#include "operation/shape.hpp"

namespace tutti::detail::staged {
namespace {

/// The number of blocks of `count` elements in the longer of an operation's buffers; 0 if each rank has its own counts.
std::size_t blocks_of(Operation operation, int size) {
  if (operation == Operation::barrier || tutti::has_counts(operation)) return 0;
  return tutti::has_equal_blocks(operation) ? static_cast<std::size_t>(size) : 1;
}

/// Adds the rows of one side of a piece.
class Side {
 public:
  Side(std::vector<Copy>& copies, std::size_t& bytes, std::size_t unit) : copies_(copies), bytes_(bytes), unit_(unit) {}

  /// A range of each of several blocks of `count` elements.
  void add_range(ElementRange range, std::size_t count, std::size_t blocks) {
    const std::size_t width = range.count * unit_;
    bytes_ = width * blocks;
    if (bytes_ == 0) return;
    if (range.count == count)
      copies_.push_back({0, 0, bytes_, 1, 0, 0});
    else
      copies_.push_back({range.offset * unit_, 0, width, blocks, count * unit_, width});
  }

  /// Blocks at arbitrary positions, and their positions in the host's copy.
  std::vector<std::size_t> add_blocks(std::span<const std::size_t> counts, std::span<const std::size_t> displs) {
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

void stage_bcast(Staging& staging, const Signature& s, bool is_root, ElementRange range) {
  staging.shared = true;
  Side side(is_root ? staging.in : staging.out, staging.out_bytes, s.type.size());
  side.add_range(range, s.count, 1);
}

/// The number of blocks of the uniform count on one side of a call; 0 for a buffer that this rank does not have.
std::size_t blocks_on_side(bool has_side, BlockKind kind, int size) {
  if (!has_side) return 0;
  return kind == BlockKind::each ? static_cast<std::size_t>(size) : 1;
}

void stage_varying(Staging& staging, const Shape& shape, const Binding& binding, std::size_t unit) {
  Side in(staging.in, staging.in_bytes, unit);
  Side out(staging.out, staging.out_bytes, unit);
  const auto whole = [](Side& side, std::size_t count) { side.add_range({0, count}, count, 1); };
  const OperationTraits& row = traits_of(shape.operation());
  std::vector<std::size_t> send_displs;
  std::vector<std::size_t> recv_displs;
  if (row.given == BlockKind::counted && !row.combines())
    send_displs = in.add_blocks(binding.send_counts, binding.send_displs);
  else
    whole(in, shape.input_end());
  if (row.taken == BlockKind::counted)
    recv_displs = out.add_blocks(binding.recv_counts, binding.recv_displs);
  else
    whole(out, row.combines() ? shape.part(shape.rank()).count : binding.recv_count);
  staging.host.send_displs = send_displs;
  staging.host.recv_displs = recv_displs;
  staging.host.kept = staging.host.copy();
}

}  // namespace

Cut cut(const Signature& signature, int size, const Limits& limits) {
  const std::size_t blocks = blocks_of(signature.operation, size);
  const std::size_t bytes = blocks * signature.count * signature.type.size();
  if (blocks == 0 || bytes < std::max<std::size_t>(limits.least_bytes, 1)) return {1, signature.count};
  // At least two, so that a copy and communication overlap.
  const std::size_t wanted = std::clamp<std::size_t>(ceil_div(bytes, limits.piece_bytes), 2, limits.most_pieces);
  const std::size_t count = ceil_div(signature.count, wanted);
  return {ceil_div(signature.count, count), count};
}

ElementRange range_of(const Cut& cut, std::size_t total, std::size_t piece) {
  const std::size_t offset = piece * cut.count;
  return {offset, std::min(cut.count, total - offset)};
}

Staging stage(const Signature& signature, const Binding& binding, int rank, int size, ElementRange range) {
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
  const Shape shape(signature, binding, rank, size);
  const std::size_t unit = signature.type.size();
  if (blocks_of(operation, size) == 0) {
    stage_varying(staging, shape, binding, unit);
  } else {
    const OperationTraits& row = traits_of(operation);
    const std::size_t in = blocks_on_side(has_input(operation, shape.is_root()), row.given, size);
    const std::size_t out = blocks_on_side(has_output(operation, shape.is_root()), row.taken, size);
    Side(staging.in, staging.in_bytes, unit).add_range(range, signature.count, in);
    Side(staging.out, staging.out_bytes, unit).add_range(range, signature.count, out);
  }
  if (shape.keeps_output() || !shape.has_result(rank)) staging.out.clear();
  return staging;
}

}  // namespace tutti::detail::staged
