// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <string>
#include <tutti/error.hpp>
#include <tutti/kernels/norms.hpp>
#include <vector>

#include "kernels/norm_arithmetic.hpp"
#include "kernels/parallel.hpp"

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

template <Norm Kind>
double norm_of_type(DatatypeKind type, const void* data, std::size_t count, std::size_t partitions) {
  switch (type) {
    case DatatypeKind::float32:
      return norm_of<Kind, float>(data, count, partitions);
    case DatatypeKind::float64:
      return norm_of<Kind, double>(data, count, partitions);
    case DatatypeKind::float16:
      return norm_of<Kind, float16_t>(data, count, partitions);
    case DatatypeKind::bfloat16:
      return norm_of<Kind, bfloat16_t>(data, count, partitions);
    default:
      throw Error(ErrorCode::invalid_datatype, std::string("norm: type is ") + datatype_name(type) +
                                                   "; it must be float32, float64, float16 or bfloat16");
  }
}

}  // namespace

double norm_part(Norm norm, DatatypeKind type, const void* data, std::size_t count, std::size_t partitions) {
  switch (norm) {
    case Norm::l1:
      return norm_of_type<Norm::l1>(type, data, count, partitions);
    case Norm::l2:
      return norm_of_type<Norm::l2>(type, data, count, partitions);
    case Norm::linf:
      return norm_of_type<Norm::linf>(type, data, count, partitions);
  }
  throw Error(ErrorCode::invalid_argument, "norm: not one of l1, l2 and linf");
}

double norm(Norm norm, DatatypeKind type, const void* data, std::size_t count, std::size_t partitions) {
  const double part = norm_part(norm, type, data, count, partitions);
  return norm == Norm::l2 ? std::sqrt(part) : part;
}

}  // namespace tutti::kernels
