// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>
#include <string>
#include <tutti/kernels/embedding_backward.hpp>
#include <vector>

/// A batch of tables with random bags, and a plain reference in float64.
namespace embedding_test {

using namespace tutti;
using namespace tutti::kernels;

struct CaseSettings {
  std::vector<std::int64_t> rows{40, 3, 1000};
  std::size_t dim = 16;
  std::size_t bags = 37;
  int longest_bag = 6;  ///< bags have 0 to this many indices
  DatatypeKind type = DatatypeKind::float32;
  Pooling pooling = Pooling::sum;
  IndexPolicy policy = IndexPolicy::fatal;
  IndexType index_type = IndexType::int64;
  bool weighted = false;
  bool stray_indices = false;  ///< some outside the table
  bool bag_major = false;      ///< output [bag][table][dim], else [table][bag][dim]
};

inline std::string describe(const CaseSettings& s) {
  return std::string(datatype_name(s.type)) + " dim " + std::to_string(s.dim) + " pooling " +
         std::to_string(static_cast<int>(s.pooling)) + " policy " + std::to_string(static_cast<int>(s.policy)) +
         " index " + std::to_string(static_cast<int>(s.index_type)) + (s.weighted ? " weighted" : "") +
         (s.bag_major ? " bag major" : "");
}

class Case {
 public:
  explicit Case(const CaseSettings& settings, unsigned seed = 1) : s(settings), generator_(seed) {
    const std::size_t row_stride = s.dim + 3;
    weights.resize(s.rows.size());
    for (std::size_t t = 0; t < s.rows.size(); ++t) fill_table(t, row_stride);
    fill_lookups();
    gradient.resize(s.rows.size() * s.bags * s.dim);
    for (auto& g : gradient) g = random_value();
  }

  CaseSettings s;
  std::vector<std::vector<float>> weights;  ///< rows x (dim + 3)
  std::vector<std::vector<std::uint16_t>> halves;
  std::vector<EmbeddingTable> tables;
  std::vector<std::int64_t> offsets;
  std::vector<std::int64_t> indices;
  std::vector<std::int32_t> short_indices;
  std::vector<float> factors;
  std::vector<TableLookups> lookups;
  std::vector<float> gradient;

  [[nodiscard]] EmbeddingOptions options(std::size_t partitions = 1) const {
    return {s.pooling, s.policy, false, partitions};
  }

  template <typename Float>
  [[nodiscard]] std::vector<Pooled<Float>> pooled(Float* base) const {
    std::vector<Pooled<Float>> result;
    for (std::size_t t = 0; t < s.rows.size(); ++t) {
      result.push_back(s.bag_major ? Pooled<Float>{base + t * s.dim, s.rows.size() * s.dim}
                                   : Pooled<Float>{base + t * s.bags * s.dim, s.dim});
    }
    return result;
  }

  /// Value d of row r as stored.
  [[nodiscard]] float value(std::size_t t, std::size_t r, std::size_t d) const {
    const std::size_t at = r * tables[t].row_stride + d;
    if (s.type == DatatypeKind::float32) return static_cast<const float*>(tables[t].weights)[at];
    if (s.type == DatatypeKind::bfloat16)
      return static_cast<float>(static_cast<const bfloat16_t*>(tables[t].weights)[at]);
    return static_cast<float>(static_cast<const float16_t*>(tables[t].weights)[at]);
  }

  /// The row of a position under the policy; nothing where it is left out.
  [[nodiscard]] std::optional<std::size_t> row(std::size_t t, std::int64_t position) const {
    const std::int64_t index = indices[static_cast<std::size_t>(position)];
    if (index >= 0 && index < s.rows[t]) return static_cast<std::size_t>(index);
    if (s.policy == IndexPolicy::ignore) return std::nullopt;
    return static_cast<std::size_t>(index < 0 ? 0 : s.rows[t] - 1);
  }

  [[nodiscard]] std::int64_t first(std::size_t t, std::size_t b) const { return offsets[t * s.bags + b]; }
  [[nodiscard]] double factor(std::int64_t position) const {
    return s.weighted ? static_cast<double>(factors[static_cast<std::size_t>(position)]) : 1.0;
  }
  [[nodiscard]] int counted(std::size_t t, std::size_t b) const {
    int count = 0;
    for (auto p = first(t, b); p < first(t, b + 1); ++p) count += row(t, p).has_value() ? 1 : 0;
    return count;
  }

  [[nodiscard]] double pooled_reference(std::size_t t, std::size_t b, std::size_t d) const {
    double sum = 0;
    bool empty = true;
    for (auto p = first(t, b); p < first(t, b + 1); ++p) {
      const auto r = row(t, p);
      if (!r) continue;
      const auto x = static_cast<double>(value(t, *r, d));
      if (s.pooling == Pooling::max) {
        sum = empty ? x : std::max(sum, x);
      } else {
        sum += factor(p) * x;
      }
      empty = false;
    }
    return s.pooling == Pooling::mean ? sum / std::max(counted(t, b), 1) : sum;
  }

  /// Gradients of all rows of a table, rows x dim.
  [[nodiscard]] std::vector<double> row_gradients(std::size_t t) {
    std::vector<double> result(static_cast<std::size_t>(s.rows[t]) * s.dim, 0.0);
    const auto from = pooled<const float>(gradient.data());
    for (std::size_t b = 0; b < s.bags; ++b) {
      for (std::size_t d = 0; d < s.dim; ++d) {
        const auto g = static_cast<double>(from[t].data[b * from[t].stride + d]);
        const double limit = pooled_reference(t, b, d);
        for (auto p = first(t, b); p < first(t, b + 1); ++p) {
          const auto r = row(t, p);
          if (!r) continue;
          if (s.pooling == Pooling::max) {
            if (static_cast<double>(value(t, *r, d)) != limit) continue;
            result[*r * s.dim + d] += g;
            break;
          }
          result[*r * s.dim + d] += factor(p) * g / (s.pooling == Pooling::mean ? counted(t, b) : 1);
        }
      }
    }
    return result;
  }

 private:
  /// Multiples of 2^-10, so that sums of thousands of them are exact in float32.
  float random_value() { return static_cast<float>(static_cast<int>(generator_() % 2001) - 1000) / 1024.0F; }

  void fill_table(std::size_t t, std::size_t row_stride) {
    const std::size_t values = static_cast<std::size_t>(s.rows[t]) * row_stride;
    weights[t].resize(values);
    for (auto& w : weights[t]) w = random_value();
    halves.emplace_back(values);
    for (std::size_t i = 0; i < values; ++i) {
      halves[t][i] = s.type == DatatypeKind::float16 ? float16_t(weights[t][i]).bits : bfloat16_t(weights[t][i]).bits;
    }
    void* memory = s.type == DatatypeKind::float32 ? static_cast<void*>(weights[t].data()) : halves[t].data();
    tables.push_back({memory, s.type, s.rows[t], s.dim, row_stride});
  }

  void fill_lookups() {
    offsets.push_back(0);
    for (std::size_t t = 0; t < s.rows.size(); ++t) {
      for (std::size_t b = 0; b < s.bags; ++b) {
        const auto length = static_cast<int>(generator_() % static_cast<unsigned>(s.longest_bag + 1));
        for (int k = 0; k < length; ++k) indices.push_back(random_index(s.rows[t]));
        offsets.push_back(static_cast<std::int64_t>(indices.size()));
      }
    }
    short_indices.assign(indices.begin(), indices.end());
    for (std::size_t i = 0; i < indices.size(); ++i) factors.push_back(random_value());
    for (std::size_t t = 0; t < s.rows.size(); ++t) {
      const void* data = s.index_type == IndexType::int32 ? static_cast<const void*>(short_indices.data())
                                                          : static_cast<const void*>(indices.data());
      lookups.push_back({data, offsets.data() + t * s.bags, s.weighted ? factors.data() : nullptr});
    }
  }

  std::int64_t random_index(std::int64_t rows) {
    const auto draw = static_cast<std::int64_t>(generator_());
    if (s.stray_indices && draw % 5 == 0) return draw % 2 == 0 ? -1 - draw % 7 : rows + draw % 9;
    return draw % rows;
  }

  std::mt19937 generator_;
};

}  // namespace embedding_test
