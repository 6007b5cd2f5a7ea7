// SPDX-License-Identifier: BSD-3-Clause
// Embedding tables in one place, trained without the library: what a collection must agree with.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <tutti/embedding_collection.hpp>
#include <vector>

namespace tutti::test {

/// The bags of one table for all samples of a batch.
struct Bags {
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int64_t> indices;
  std::vector<float> weights;  ///< empty: none

  [[nodiscard]] std::size_t size() const { return offsets.size() - 1; }
  [[nodiscard]] float weight(std::int64_t p) const { return weights.empty() ? 1.0F : weights[std::size_t(p)]; }
};

inline std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 31)) * 0x7fb5d329728ea185ULL;
  x = (x ^ (x >> 27)) * 0x81dadef4bc2dd44dULL;
  return x ^ (x >> 33);
}

/// In [-1, 1).
inline float noise(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  return static_cast<float>(mixed(mixed(mixed(a + 1) + b) + c) >> 40) * 0x1p-23F - 1.0F;
}

/// Bags of 0 to 4 indices, with duplicates; the same on every rank.
inline Bags make_bags(const EmbeddingTableConfig& table, std::size_t t, std::size_t batch, std::uint64_t step,
                      bool weighted) {
  Bags bags;
  for (std::size_t s = 0; s < batch; ++s) {
    const std::uint64_t seed = mixed((step * 131 + t) * 1009 + s);
    for (std::uint64_t k = 0; k < seed % 5; ++k) {
      bags.indices.push_back(static_cast<std::int64_t>(mixed(seed + k) % static_cast<std::uint64_t>(table.rows)));
      if (weighted) bags.weights.push_back(0.5F + 0.25F * noise(step, s, k));
    }
    bags.offsets.push_back(static_cast<std::int64_t>(bags.indices.size()));
  }
  return bags;
}

inline float first_value(std::size_t t, std::int64_t row, std::size_t column) {
  return 0.5F * noise(t, static_cast<std::uint64_t>(row), column);
}

inline float gradient_value(std::size_t t, std::size_t sample, std::size_t column, std::uint64_t step) {
  return noise(step * 31 + t, sample, column + 77);
}

/// As PyTorch's EmbeddingBag with its sparse optimizers, in double.
class ReferenceTable {
 public:
  ReferenceTable(const EmbeddingTableConfig& config, std::size_t t, kernels::RowOptimizer optimizer)
      : config_(config), t_(t), optimizer_(optimizer) {
    const auto values = static_cast<std::size_t>(config.rows) * config.dim;
    rows_.resize(values);
    first_.resize(values);
    second_.resize(values);
    for (std::int64_t row = 0; row < config.rows; ++row)
      for (std::size_t c = 0; c < config.dim; ++c) rows_[at(row, c)] = rounded(first_value(t, row, c));
  }

  [[nodiscard]] double value(std::int64_t row, std::size_t c) const { return rows_[at(row, c)]; }

  /// Has another table's rows up to `rows`, with their state.
  void take_first_rows(const ReferenceTable& other, std::int64_t rows) {
    const auto values = static_cast<std::ptrdiff_t>(at(rows, 0));
    std::copy_n(other.rows_.begin(), values, rows_.begin());
    std::copy_n(other.first_.begin(), values, first_.begin());
    std::copy_n(other.second_.begin(), values, second_.begin());
  }

  /// [batch][dim]
  [[nodiscard]] std::vector<double> forward(const Bags& bags) const {
    std::vector<double> pooled(bags.size() * config_.dim, 0);
    for (std::size_t s = 0; s < bags.size(); ++s)
      for (std::size_t c = 0; c < config_.dim; ++c) pooled[s * config_.dim + c] = pool(bags, s, c);
    return pooled;
  }

  void update(const Bags& bags, std::uint64_t step, double rate, double epsilon) {
    std::map<std::int64_t, std::vector<double>> gradients;
    for (std::size_t s = 0; s < bags.size(); ++s) add_gradients(bags, s, step, gradients);
    for (const auto& [row, gradient] : gradients) update_row(row, gradient, static_cast<double>(step), rate, epsilon);
  }

 private:
  [[nodiscard]] std::size_t at(std::int64_t row, std::size_t c) const {
    return static_cast<std::size_t>(row) * config_.dim + c;
  }
  [[nodiscard]] double rounded(double x) const {
    if (config_.type == DatatypeKind::bfloat16) return static_cast<float>(bfloat16_t(static_cast<float>(x)));
    if (config_.type == DatatypeKind::float16) return static_cast<float>(float16_t(static_cast<float>(x)));
    return static_cast<float>(x);
  }

  [[nodiscard]] std::int64_t maximum(const Bags& bags, std::size_t s, std::size_t c) const {
    std::int64_t best = bags.offsets[s];
    for (std::int64_t p = best; p < bags.offsets[s + 1]; ++p)
      if (value(bags.indices[std::size_t(p)], c) > value(bags.indices[std::size_t(best)], c)) best = p;
    return best;
  }

  [[nodiscard]] double pool(const Bags& bags, std::size_t s, std::size_t c) const {
    const std::int64_t count = bags.offsets[s + 1] - bags.offsets[s];
    if (count == 0) return 0;
    if (config_.pooling == kernels::Pooling::max) return value(bags.indices[std::size_t(maximum(bags, s, c))], c);
    double sum = 0;
    for (std::int64_t p = bags.offsets[s]; p < bags.offsets[s + 1]; ++p)
      sum += static_cast<double>(bags.weight(p)) * value(bags.indices[std::size_t(p)], c);
    return config_.pooling == kernels::Pooling::mean ? sum / static_cast<double>(count) : sum;
  }

  void add_gradients(const Bags& bags, std::size_t s, std::uint64_t step,
                     std::map<std::int64_t, std::vector<double>>& gradients) const {
    const auto count = static_cast<double>(bags.offsets[s + 1] - bags.offsets[s]);
    for (std::int64_t p = bags.offsets[s]; p < bags.offsets[s + 1]; ++p) {
      auto& gradient = gradients[bags.indices[std::size_t(p)]];
      gradient.resize(config_.dim, 0);
      for (std::size_t c = 0; c < config_.dim; ++c) {
        double g = static_cast<double>(gradient_value(t_, s, c, step)) * static_cast<double>(bags.weight(p));
        if (config_.pooling == kernels::Pooling::mean) g /= count;
        if (config_.pooling == kernels::Pooling::max && maximum(bags, s, c) != p) g = 0;
        gradient[c] += g;
      }
    }
  }

  void update_row(std::int64_t row, const std::vector<double>& g, double step, double rate, double epsilon) {
    double squares = 0;
    for (const double x : g) squares += x * x;
    if (optimizer_ == kernels::RowOptimizer::row_wise_adagrad) first_[at(row, 0)] += squares / double(config_.dim);
    for (std::size_t c = 0; c < config_.dim; ++c) {
      double& w = rows_[at(row, c)];
      double& m = first_[at(row, c)];
      double& v = second_[at(row, c)];
      switch (optimizer_) {
        case kernels::RowOptimizer::sgd:
          w -= rate * g[c];
          break;
        case kernels::RowOptimizer::adagrad:
          m += g[c] * g[c];
          w -= rate * g[c] / (std::sqrt(m) + epsilon);
          break;
        case kernels::RowOptimizer::row_wise_adagrad:
          w -= rate * g[c] / (std::sqrt(first_[at(row, 0)]) + epsilon);
          break;
        case kernels::RowOptimizer::adam:
          m = 0.9 * m + 0.1 * g[c];
          v = 0.999 * v + 0.001 * g[c] * g[c];
          w -= rate * m / (1 - std::pow(0.9, step)) / (std::sqrt(v / (1 - std::pow(0.999, step))) + epsilon);
          break;
      }
      w = rounded(w);
    }
  }

  EmbeddingTableConfig config_;
  std::size_t t_;
  kernels::RowOptimizer optimizer_;
  std::vector<double> rows_;
  std::vector<double> first_;
  std::vector<double> second_;
};

}  // namespace tutti::test
