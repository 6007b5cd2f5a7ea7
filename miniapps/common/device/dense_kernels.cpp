// SPDX-License-Identifier: BSD-3-Clause
#include "dense_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <tutti/kernels/launch.hpp>

namespace tutti::miniapps::device {

namespace {

using kernels::device::divide_item;
using kernels::device::launch;

/// Any pair of float and bfloat16_t.
template <typename To, typename From>
TUTTI_FUNCTION To to(From value) {
  return static_cast<To>(static_cast<float>(value));
}

// A NaN stays a NaN, so that it reaches the loss.
TUTTI_FUNCTION float activated(float value, Activation activation) {
  if (activation == Activation::relu) return value < 0.0F ? 0.0F : value;
  if (activation == Activation::sigmoid) return 1.0F / (1.0F + std::exp(-value));
  return value;
}

TUTTI_FUNCTION float deactivated(float gradient, float y, Activation activation) {
  if (activation == Activation::relu) return y > 0.0F ? gradient : 0.0F;
  if (activation == Activation::sigmoid) return gradient * (1.0F - y) * y;
  return gradient;
}

struct Fill {
  float* values;
  float value;
  TUTTI_FUNCTION void operator()(std::size_t i) const { values[i] = value; }
};

struct Convert {
  const float* from;
  bfloat16_t* to;
  TUTTI_FUNCTION void operator()(std::size_t i) const { to[i] = bfloat16_t(from[i]); }
};

/// Some values, which a device reads at once.
template <typename T, std::size_t Count>
struct alignas(sizeof(T) * Count) Pack {
  T values[Count];
};

constexpr std::size_t pack_values = 4;

/// Item i: a pack of a row of `stride` values.
struct ConvertRows {
  const float* from;
  Pack<bfloat16_t, pack_values>* to;
  std::size_t width;
  std::size_t stride;
  TUTTI_FUNCTION void operator()(std::size_t i) const {
    const auto [row, piece] = divide_item(i, stride / pack_values);
    Pack<bfloat16_t, pack_values> pack;
    for (std::size_t k = 0; k < pack_values; ++k) {
      const std::size_t column = piece * pack_values + k;
      pack.values[k] = bfloat16_t(column < width ? from[row * width + column] : 0.0F);
    }
    to[i] = pack;
  }
};

/// Item i: as ConvertRows.
struct PackRows {
  const Pack<float, pack_values>* from;
  float* to;
  std::size_t width;
  std::size_t stride;
  TUTTI_FUNCTION void operator()(std::size_t i) const {
    const auto [row, piece] = divide_item(i, stride / pack_values);
    const Pack<float, pack_values> pack = from[i];
    for (std::size_t k = 0; k < pack_values; ++k) {
      const std::size_t column = piece * pack_values + k;
      if (column < width) to[row * width + column] = pack.values[k];
    }
  }
};

template <typename Y>
struct AddBias {
  const float* z;
  const float* b;
  Y* y;
  std::size_t width;
  Activation activation;
  TUTTI_FUNCTION void operator()(std::size_t i) const {
    const float bias = b != nullptr ? b[divide_item(i, width).remainder] : 0.0F;
    y[i] = to<Y>(activated(z[i] + bias, activation));
  }
};

template <typename T>
struct FindNumber {
  const T* values;
  float* found;
  TUTTI_FUNCTION void operator()(std::size_t i) const {
    if (!std::isnan(to<float>(values[i]))) *found = 1.0F;
  }
};

/// Item i: the values of a pack.
template <typename Y, typename Dz, std::size_t Count>
struct Deactivate {
  const Pack<float, Count>* d;
  const Pack<Y, Count>* y;
  Pack<Dz, Count>* dz;
  Activation activation;
  TUTTI_FUNCTION void operator()(std::size_t i) const {
    const Pack<float, Count> gradients = d[i];
    const Pack<Y, Count> results = y[i];
    Pack<Dz, Count> before;
    for (std::size_t k = 0; k < Count; ++k)
      before.values[k] = to<Dz>(deactivated(gradients.values[k], to<float>(results.values[k]), activation));
    dz[i] = before;
  }
};

template <std::size_t Count, typename Y, typename Dz>
void deactivate_packs(const float* d, const Y* y, Dz* dz, std::size_t count, Activation activation,
                      StreamHandle stream) {
  launch(stream, count / Count,
         Deactivate<Y, Dz, Count>{reinterpret_cast<const Pack<float, Count>*>(d),
                                  reinterpret_cast<const Pack<Y, Count>*>(y), reinterpret_cast<Pack<Dz, Count>*>(dz),
                                  activation});
}

template <typename Y, typename Dz>
void deactivate_all(const float* d, const Y* y, Dz* dz, std::size_t count, Activation activation, StreamHandle stream) {
  const auto is_aligned = [](const auto* values) {
    return reinterpret_cast<std::uintptr_t>(values) % (pack_values * sizeof *values) == 0;
  };
  if (count % pack_values == 0 && is_aligned(d) && is_aligned(y) && is_aligned(dz))
    return deactivate_packs<pack_values>(d, y, dz, count, activation, stream);
  deactivate_packs<1>(d, y, dz, count, activation, stream);
}

/// Item i: the sum of one column over one part of the rows.
template <typename T>
struct SumRows {
  const T* values;
  float* sums;
  std::size_t n;
  std::size_t width;
  std::size_t rows;  ///< of a part
  TUTTI_FUNCTION void operator()(std::size_t i) const {
    const auto [part, column] = divide_item(i, width);
    const std::size_t begin = part * rows;
    const std::size_t end = begin + rows < n ? begin + rows : n;
    float sum = 0;
    for (std::size_t row = begin; row < end; ++row) sum += to<float>(values[row * width + column]);
    sums[i] = sum;
  }
};

/// Neighbouring items read neighbouring values, and narrow layers have enough items by their parts.
template <typename T>
void sum_in_parts(const T* values, float* partials, float* sums, std::size_t n, std::size_t width,
                  StreamHandle stream) {
  constexpr std::size_t fewest_rows = 64;
  const std::size_t rows = std::max(fewest_rows, (n + column_sum_parts - 1) / column_sum_parts);
  const std::size_t parts = (n + rows - 1) / rows;
  if (parts <= 1) return launch(stream, width, SumRows<T>{values, sums, n, width, rows});
  launch(stream, parts * width, SumRows<T>{values, partials, n, width, rows});
  launch(stream, width, SumRows<float>{partials, sums, parts, width, parts});
}

struct Cross {
  const float* x0;
  const float* z;
  const float* x;
  float* y;
  TUTTI_FUNCTION void operator()(std::size_t i) const { y[i] = x0[i] * z[i] + x[i]; }
};

struct Uncross {
  const float* x0;
  const float* z;
  const float* g;
  float* dz;
  float* dx0;
  TUTTI_FUNCTION void operator()(std::size_t i) const {
    dz[i] = x0[i] * g[i];
    dx0[i] += z[i] * g[i];
  }
};

struct Add {
  float* sum;
  const float* values;
  TUTTI_FUNCTION void operator()(std::size_t i) const { sum[i] += values[i]; }
};

}  // namespace

void fill(float* values, std::size_t count, float value, StreamHandle stream) {
  launch(stream, count, Fill{values, value});
}

void convert(const float* from, bfloat16_t* to, std::size_t count, StreamHandle stream) {
  launch(stream, count, Convert{from, to});
}

void convert_rows(const float* from, bfloat16_t* to, std::size_t rows, std::size_t width, std::size_t stride,
                  StreamHandle stream) {
  launch(stream, rows * (stride / pack_values),
         ConvertRows{from, reinterpret_cast<Pack<bfloat16_t, pack_values>*>(to), width, stride});
}

void pack_rows(const float* from, float* to, std::size_t rows, std::size_t width, std::size_t stride,
               StreamHandle stream) {
  launch(stream, rows * (stride / pack_values),
         PackRows{reinterpret_cast<const Pack<float, pack_values>*>(from), to, width, stride});
}

void add_bias(const float* z, const float* b, float* y, std::size_t n, std::size_t width, Activation activation,
              StreamHandle stream) {
  launch(stream, n * width, AddBias<float>{z, b, y, width, activation});
}

void add_bias(const float* z, const float* b, bfloat16_t* y, std::size_t n, std::size_t width, Activation activation,
              StreamHandle stream) {
  launch(stream, n * width, AddBias<bfloat16_t>{z, b, y, width, activation});
}

void find_number(const float* values, std::size_t count, float* found, StreamHandle stream) {
  launch(stream, count, FindNumber<float>{values, found});
}

void find_number(const bfloat16_t* values, std::size_t count, float* found, StreamHandle stream) {
  launch(stream, count, FindNumber<bfloat16_t>{values, found});
}

void deactivate(const float* d, const float* y, float* dz, std::size_t count, Activation activation,
                StreamHandle stream) {
  deactivate_all(d, y, dz, count, activation, stream);
}

void deactivate(const float* d, const float* y, bfloat16_t* dz, std::size_t count, Activation activation,
                StreamHandle stream) {
  deactivate_all(d, y, dz, count, activation, stream);
}

void deactivate(const float* d, const bfloat16_t* y, bfloat16_t* dz, std::size_t count, Activation activation,
                StreamHandle stream) {
  deactivate_all(d, y, dz, count, activation, stream);
}

void sum_columns(const float* values, float* partials, float* sums, std::size_t n, std::size_t width,
                 StreamHandle stream) {
  sum_in_parts(values, partials, sums, n, width, stream);
}

void sum_columns(const bfloat16_t* values, float* partials, float* sums, std::size_t n, std::size_t width,
                 StreamHandle stream) {
  sum_in_parts(values, partials, sums, n, width, stream);
}

void cross(const float* x0, const float* z, const float* x, float* y, std::size_t count, StreamHandle stream) {
  launch(stream, count, Cross{x0, z, x, y});
}

void uncross(const float* x0, const float* z, const float* g, float* dz, float* dx0, std::size_t count,
             StreamHandle stream) {
  launch(stream, count, Uncross{x0, z, g, dz, dx0});
}

void add(float* sum, const float* values, std::size_t count, StreamHandle stream) {
  launch(stream, count, Add{sum, values});
}

}  // namespace tutti::miniapps::device
