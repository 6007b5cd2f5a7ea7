// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <tutti/kernels/norms.hpp>
#include <vector>

#include "kernels/parallel.hpp"
#include "training/kernels/float_kinds.hpp"
#include "training/kernels/norm_arithmetic.hpp"

namespace tutti::kernels {

namespace {

/// Lane k takes every 16th element, then the lanes are joined as a tree.
template <Norm Kind, typename T>
double block_norm(const T* data, std::size_t count) {
  double acc[norm_lanes] = {};
  const std::size_t whole = count - count % norm_lanes;
  for (std::size_t i = 0; i < whole; i += norm_lanes) {
    for (std::size_t k = 0; k < norm_lanes; ++k) acc[k] = norm_join<Kind>(acc[k], norm_term<Kind>(data[i + k]));
  }
  for (std::size_t i = whole; i < count; ++i)
    acc[i - whole] = norm_join<Kind>(acc[i - whole], norm_term<Kind>(data[i]));
  norm_tree<Kind>(acc);
  return acc[0];
}

template <Norm Kind, typename T>
double norm_of(const void* data, std::size_t count, std::size_t asked) {
  const auto* values = static_cast<const T*>(data);
  const std::size_t blocks = (count + norm_block - 1) / norm_block;
  if (blocks <= 1) return block_norm<Kind>(values, count);
  const std::size_t partitions = partition_count(asked);
  std::vector<double> results(blocks);
  for_each_partition(partitions, [&](std::size_t p) {
    const auto [begin, end] = partition_range(blocks, partitions, p);
    for (std::size_t block = begin; block < end; ++block) {
      const std::size_t first = block * norm_block;
      results[block] = block_norm<Kind>(values + first, std::min(norm_block, count - first));
    }
  });
  std::vector<double> parts;
  for (std::size_t first = 0; first < blocks; first += norm_part_blocks)
    parts.push_back(norm_sequence<Kind>(results.data() + first, std::min(norm_part_blocks, blocks - first), 1));
  return norm_sequence<Kind>(parts.data(), parts.size(), 1);
}

}  // namespace

double norm_part(Norm norm, DatatypeKind type, const void* data, std::size_t count, std::size_t partitions) {
  return with_norm("norm", norm, [&](auto kind) {
    constexpr Norm chosen = decltype(kind)::value;
    return with_float("norm", type,
                      [&]<typename T>(T /*number*/) { return norm_of<chosen, T>(data, count, partitions); });
  });
}

double norm(Norm norm, DatatypeKind type, const void* data, std::size_t count, std::size_t partitions) {
  const double part = norm_part(norm, type, data, count, partitions);
  return norm == Norm::l2 ? std::sqrt(part) : part;
}

}  // namespace tutti::kernels
