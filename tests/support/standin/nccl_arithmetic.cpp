// SPDX-License-Identifier: BSD-3-Clause
#include "support/standin/nccl_arithmetic.hpp"

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <tutti/float_types.hpp>
#include <type_traits>

namespace tutti::standin {
namespace {

template <typename F>
void dispatch(DataType type, F&& f) {
  switch (type) {
    case DataType::int8:
      return f(std::int8_t{});
    case DataType::uint8:
      return f(std::uint8_t{});
    case DataType::int32:
      return f(std::int32_t{});
    case DataType::uint32:
      return f(std::uint32_t{});
    case DataType::int64:
      return f(std::int64_t{});
    case DataType::uint64:
      return f(std::uint64_t{});
    case DataType::float16:
      return f(float16_t{});
    case DataType::float32:
      return f(float{});
    case DataType::float64:
      return f(double{});
    case DataType::bfloat16:
      return f(bfloat16_t{});
    case DataType::float8_e4m3:
      return f(float8_e4m3_t{});
    case DataType::float8_e5m2:
      return f(float8_e5m2_t{});
  }
  throw std::logic_error("stand-in NCCL: no such type");
}

/// What one operation is computed in: integers wrap, narrow floats go through float.
template <typename T, bool integer = std::is_integral_v<T>>
struct Wide {
  using Type = std::conditional_t<std::is_same_v<T, double>, double, float>;
};
template <typename T>
struct Wide<T, true> {
  using Type = std::uint64_t;
};

template <typename T>
T one(RedOp op, T a, T b) {
  using W = typename Wide<T>::Type;
  const W x = static_cast<W>(a);
  const W y = static_cast<W>(b);
  if (op == RedOp::sum) return static_cast<T>(x + y);
  if (op == RedOp::prod) return static_cast<T>(x * y);
  if constexpr (std::is_integral_v<T>) {
    return (op == RedOp::max) == (a < b) ? b : a;
  } else {
    return static_cast<T>(op == RedOp::max ? std::fmax(x, y) : std::fmin(x, y));
  }
}

}  // namespace

std::size_t bytes_of(DataType type) {
  std::size_t bytes = 0;
  if (type < DataType::int8 || type > DataType::float8_e5m2) return 0;
  dispatch(type, [&](auto zero) { bytes = sizeof zero; });
  return bytes;
}

std::string name_of(DataType type) {
  static const char* const names[] = {"int8",    "uint8",   "int32",   "uint32",   "int64",       "uint64",
                                      "float16", "float32", "float64", "bfloat16", "float8_e4m3", "float8_e5m2"};
  return bytes_of(type) == 0 ? "no type" : names[static_cast<int>(type)];
}

std::string name_of(RedOp op) {
  static const char* const names[] = {"sum", "prod", "max", "min", "avg"};
  return op > RedOp::avg ? "premul_sum" : names[static_cast<int>(op)];
}

void combine(DataType type, RedOp op, void* into, const void* from, std::size_t count) {
  dispatch(type, [&](auto zero) {
    using T = decltype(zero);
    auto* to = static_cast<T*>(into);
    const auto* other = static_cast<const T*>(from);
    for (std::size_t i = 0; i < count; ++i) to[i] = one(op, to[i], other[i]);
  });
}

void scale(DataType type, const void* factor, void* data, std::size_t count) {
  dispatch(type, [&](auto zero) {
    using T = decltype(zero);
    auto* to = static_cast<T*>(data);
    for (std::size_t i = 0; i < count; ++i) to[i] = one(RedOp::prod, to[i], *static_cast<const T*>(factor));
  });
}

void scale_for_average(DataType type, int ranks, void* data, std::size_t count) {
  dispatch(type, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (!std::is_integral_v<T>) {
      using W = typename Wide<T>::Type;
      const T factor = static_cast<T>(W{1} / static_cast<W>(ranks));
      scale(type, &factor, data, count);
    }
  });
}

void divide_for_average(DataType type, int ranks, void* data, std::size_t count) {
  dispatch(type, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T>) {
      auto* to = static_cast<T*>(data);
      const auto by = static_cast<std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>(ranks);
      for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<T>(to[i] / by);
    }
  });
}

}  // namespace tutti::standin
