// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <string>
#include <tutti/error.hpp>
#include <tutti/kernels/norms.hpp>
#include <vector>

#include "kernels/parallel.hpp"

namespace tutti::kernels {

namespace {

constexpr std::size_t block_size = 8192;
constexpr std::size_t lanes = 16;

double magnitude(double x) { return std::fabs(x); }
double magnitude(float x) { return std::fabs(static_cast<double>(x)); }
double magnitude(bfloat16_t x) { return std::fabs(static_cast<double>(static_cast<float>(x))); }
double magnitude(float16_t x) { return std::fabs(static_cast<double>(detail::widen_float16(x.bits))); }

template <Norm Kind>
double join(double a, double b) {
  if constexpr (Kind == Norm::linf) return b > a || b != b ? b : a;
  return a + b;
}

template <Norm Kind, typename T>
double term(T x) {
  const double size = magnitude(x);
  return Kind == Norm::l2 ? size * size : size;
}

/// Lane k takes every 16th element; then the lanes are joined as a tree.
template <Norm Kind, typename T>
double block_norm(const T* data, std::size_t count) {
  double acc[lanes] = {};
  const std::size_t whole = count - count % lanes;
  for (std::size_t i = 0; i < whole; i += lanes) {
    for (std::size_t k = 0; k < lanes; ++k) acc[k] = join<Kind>(acc[k], term<Kind>(data[i + k]));
  }
  for (std::size_t i = whole; i < count; ++i) acc[i - whole] = join<Kind>(acc[i - whole], term<Kind>(data[i]));
  for (std::size_t width = lanes / 2; width > 0; width /= 2) {
    for (std::size_t k = 0; k < width; ++k) acc[k] = join<Kind>(acc[k], acc[k + width]);
  }
  return acc[0];
}

template <Norm Kind, typename T>
double norm_of(const void* data, std::size_t count, std::size_t asked) {
  const auto* values = static_cast<const T*>(data);
  const std::size_t blocks = (count + block_size - 1) / block_size;
  if (blocks <= 1) return block_norm<Kind>(values, count);
  const std::size_t partitions = partition_count(asked);
  std::vector<double> results(blocks);
  for_each_partition(partitions, [&](std::size_t p) {
    const auto [begin, end] = partition_range(blocks, partitions, p);
    for (std::size_t block = begin; block < end; ++block) {
      const std::size_t first = block * block_size;
      results[block] = block_norm<Kind>(values + first, std::min(block_size, count - first));
    }
  });
  double total = 0;
  for (const double result : results) total = join<Kind>(total, result);
  return total;
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
