// SPDX-License-Identifier: BSD-3-Clause
#include "shape.hpp"

#include "counts.hpp"

namespace tutti::commbench {
namespace {

struct Blocks {
  std::size_t average;
  int ranks;
  bool uneven;

  /// Elements of block k; between two ranks k is the sum of both.
  [[nodiscard]] std::size_t length(int k) const {
    if (!uneven) return average;
    return k % 2 == 0 ? average - average / 2 : average + average / 2;
  }
  [[nodiscard]] Counts lengths(int shift) const {
    Counts counts(static_cast<std::size_t>(ranks));
    for (int r = 0; r < ranks; ++r) counts[static_cast<std::size_t>(r)] = length(r + shift);
    return counts;
  }
};

void make_vector(Operation operation, std::size_t elements, const World& w, Shape& shape) {
  shape.count = shape.total = elements;
  const bool is_root = w.rank == w.root;
  if (operation != Operation::bcast) shape.send = elements;
  if (operation != Operation::reduce || is_root) shape.recv = elements;
  int first = 0;
  int last = w.ranks - 1;
  if (operation == Operation::bcast) first = last = w.root;
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

void make_alltoall(const Blocks& blocks, const World& w, Shape& shape) {
  // Symmetric: what goes from a to b is as long as what goes from b to a.
  const Counts counts = blocks.lengths(w.rank);
  shape.send_counts = shape.recv_counts = counts;
  shape.send_displs = shape.recv_displs = starts_of(counts);
  shape.send = shape.recv = sum_of(counts);
  for (int r = 0; r < w.ranks; ++r)
    shape.result.push_back({at(shape.recv_displs, r), at(counts, r), r, r, at(starts_of(blocks.lengths(r)), w.rank)});
}

}  // namespace

Shape make_shape(Operation operation, std::size_t elements, const World& w, bool uneven) {
  Shape shape;
  if (operation == Operation::barrier) return shape;
  const OperationTraits& row = traits_of(operation);
  if (row.has_one_vector()) {
    make_vector(operation, elements, w, shape);
    return shape;
  }
  const Blocks blocks{elements / static_cast<std::size_t>(w.ranks), w.ranks, uneven && row.has_counts()};
  const Counts counts = blocks.lengths(0);
  shape.count = blocks.average;
  shape.total = sum_of(counts);
  if (row.combines())
    make_reduce_scatter(counts, w, shape);
  else if (row.root == RootPart::gives)
    make_scatter(counts, w, shape);
  else if (row.given == BlockKind::one || row.given == BlockKind::own)
    make_gather(counts, !row.has_root() || w.rank == w.root, w, shape);
  else
    make_alltoall(blocks, w, shape);
  return shape;
}

}  // namespace tutti::commbench
