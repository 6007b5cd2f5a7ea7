// SPDX-License-Identifier: BSD-3-Clause
#include "shape.hpp"

#include <algorithm>

#include "counts.hpp"

namespace tutti::commbench {
namespace {

void make_vector(Operation operation, std::size_t elements, const World& w, Shape& shape) {
  shape.count = shape.total = shape.largest = elements;
  const bool is_root = w.rank == w.root;
  if (operation != Operation::bcast) shape.send = elements;
  if (operation != Operation::reduce || is_root) shape.recv = elements;
  int first = 0;
  int last = w.ranks - 1;
  if (operation == Operation::bcast) first = last = w.root;
  if (operation == Operation::bcast && is_root) shape.given.push_back({0, elements, 0});
  if (operation == Operation::scan) last = w.rank;
  if (operation == Operation::exscan) last = w.rank - 1;
  if (shape.recv > 0 && last >= first) shape.result.push_back({0, elements, first, last, 0});
}

void add_blocks_of_all(const Counts& counts, Shape& shape) {
  const Counts displs = starts_of(counts);
  for (int r = 0; r < static_cast<int>(counts.size()); ++r)
    shape.result.push_back({at(displs, r), at(counts, r), r, r, 0});
  shape.recv = sum_of(counts);
}

void make_gather(const Counts& counts, bool receives, const World& w, Shape& shape) {
  shape.send = at(counts, w.rank);
  if (!receives) return;
  shape.recv_counts = counts;
  shape.recv_displs = starts_of(counts);
  add_blocks_of_all(counts, shape);
}

void make_scatter(const Counts& counts, const World& w, Shape& shape) {
  shape.recv = at(counts, w.rank);
  shape.result.push_back({0, shape.recv, w.root, w.root, at(starts_of(counts), w.rank)});
  if (w.rank != w.root) return;
  shape.send = sum_of(counts);
  shape.send_counts = counts;
  shape.send_displs = starts_of(counts);
}

void make_reduce_scatter(const Counts& counts, const World& w, Shape& shape) {
  shape.send = sum_of(counts);
  shape.recv = at(counts, w.rank);
  shape.recv_counts = counts;
  shape.result.push_back({0, shape.recv, 0, w.ranks - 1, at(starts_of(counts), w.rank)});
}

void make_alltoall(const Splits& splits, std::size_t elements, const World& w, Shape& shape) {
  Counts taken(static_cast<std::size_t>(w.ranks));
  for (int giver = 0; giver < w.ranks; ++giver) {
    const Counts counts = divide(splits, elements, w.ranks, giver, w.root);
    if (giver == w.rank) shape.send_counts = counts;
    for (std::size_t r = 0; r < taken.size(); ++r) taken[r] += counts[r];
    shape.recv_counts.push_back(at(counts, w.rank));
    shape.result.push_back({0, shape.recv_counts.back(), giver, giver, at(starts_of(counts), w.rank)});
    shape.largest = std::max(shape.largest, sum_of(counts));
  }
  shape.largest = std::max(shape.largest, *std::max_element(taken.begin(), taken.end()));
  shape.send_displs = starts_of(shape.send_counts);
  shape.recv_displs = starts_of(shape.recv_counts);
  for (std::size_t r = 0; r < taken.size(); ++r) shape.result[r].at = shape.recv_displs[r];
  shape.send = sum_of(shape.send_counts);
  shape.recv = sum_of(shape.recv_counts);
}

}  // namespace

Shape make_shape(Operation operation, std::size_t elements, const World& w, const Splits& splits) {
  Shape shape;
  if (operation == Operation::barrier) return shape;
  const OperationTraits& row = traits_of(operation);
  if (row.has_one_vector()) {
    make_vector(operation, elements, w, shape);
    return shape;
  }
  const Splits of_call = row.has_counts() ? splits : Splits{};
  const Counts counts = divide(of_call, elements, w.ranks, 0, w.root);
  shape.count = elements / static_cast<std::size_t>(w.ranks);
  shape.total = shape.largest = sum_of(counts);
  if (row.combines())
    make_reduce_scatter(counts, w, shape);
  else if (row.root == RootPart::gives)
    make_scatter(counts, w, shape);
  else if (row.given == BlockKind::one || row.given == BlockKind::own)
    make_gather(counts, !row.has_root() || w.rank == w.root, w, shape);
  else
    make_alltoall(of_call, elements, w, shape);
  return shape;
}

InPlaceSide in_place_side(Operation operation, const World& w) {
  const OperationTraits& row = traits_of(operation);
  const bool is_here = row.in_place == InPlaceSide::recv || row.in_place == InPlaceSide::send;
  return is_here && (!row.has_root() || w.rank == w.root) ? row.in_place : InPlaceSide::none;
}

Shape make_in_place(Operation operation, const World& w, Shape shape) {
  const InPlaceSide side = in_place_side(operation, w);
  const OperationTraits& row = traits_of(operation);
  if (side == InPlaceSide::recv) {
    shape.recv = 0;
    shape.result.clear();
  } else if (side == InPlaceSide::send) {
    const bool is_block = row.given == BlockKind::own || (row.given == BlockKind::one && row.taken == BlockKind::each);
    const std::size_t at_own = is_block ? shape.result[static_cast<std::size_t>(w.rank)].at : 0;
    shape.given.push_back({at_own, shape.send, 0});
    shape.recv = std::max(shape.recv, at_own + shape.send);
    shape.send = 0;
  }
  return shape;
}

}  // namespace tutti::commbench
