// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <tutti/kernels/embedding_backward.hpp>
#include <tutti/kernels/embedding_rows.hpp>
#include <vector>

/// Tables of any type with their own memory, and updates of rows in float64.
namespace embedding_test {

using namespace tutti;
using namespace tutti::kernels;

/// A table that owns its memory, all values equal to a function of row and column.
class OwnedTable {
 public:
  OwnedTable(DatatypeKind type, std::int64_t rows, std::size_t dim, const ShardPlace& place = {})
      : bytes_(static_cast<std::size_t>(rows) * (dim + 3) * Datatype(type).size() + 1),
        scales_(static_cast<std::size_t>(rows)) {
    table_ = {bytes_.data(), type, rows, dim, dim + 3, type == DatatypeKind::uint8 ? scales_.data() : nullptr, place};
  }

  [[nodiscard]] const EmbeddingTable& table() const { return table_; }

  /// Starts with value(row, column) of the whole table, rounded to nearest.
  template <typename Value>
  void fill(const Value& value) {
    std::vector<float> row(table_.dim);
    for (std::int64_t r = 0; r < table_.rows; ++r) {
      for (std::size_t d = 0; d < table_.dim; ++d) {
        row[d] = value(static_cast<std::size_t>(table_.place.first_row + r), table_.place.first_column + d);
      }
      write_rows(table_, {r, 1, 0, table_.dim}, row.data(), table_.dim);
    }
  }

  [[nodiscard]] std::vector<float> values() const {
    std::vector<float> result(static_cast<std::size_t>(table_.rows) * table_.dim);
    read_rows(table_, {0, table_.rows, 0, table_.dim}, result.data(), table_.dim);
    return result;
  }

  [[nodiscard]] float step_of(std::size_t row) const {
    return table_.type == DatatypeKind::uint8 ? scales_[row].scale : 0.0F;
  }

  [[nodiscard]] const std::vector<unsigned char>& bytes() const { return bytes_; }

 private:
  std::vector<unsigned char> bytes_;
  std::vector<RowScale> scales_;
  EmbeddingTable table_;
};

/// The new values of a row in float64; `state` is changed.
inline std::vector<double> updated(const RowUpdate& update, std::vector<double> row, const std::vector<double>& g,
                                   std::vector<double>& state) {
  const std::size_t dim = row.size();
  const auto rate = static_cast<double>(update.learning_rate);
  const auto epsilon = static_cast<double>(update.epsilon);
  double mean = 0;
  for (const double x : g) mean += x * x / static_cast<double>(dim);
  if (update.optimizer == RowOptimizer::row_wise_adagrad) state[0] += mean;
  for (std::size_t d = 0; d < dim; ++d) {
    switch (update.optimizer) {
      case RowOptimizer::sgd:
        row[d] -= rate * g[d];
        break;
      case RowOptimizer::adagrad:
        state[d] += g[d] * g[d];
        row[d] -= rate * g[d] / (std::sqrt(state[d]) + epsilon);
        break;
      case RowOptimizer::row_wise_adagrad:
        row[d] -= rate * g[d] / (std::sqrt(state[0]) + epsilon);
        break;
      case RowOptimizer::adam: {
        double& m = state[d];
        double& v = state[dim + d];
        m = update.beta1 * m + (1 - update.beta1) * g[d];
        v = update.beta2 * v + (1 - update.beta2) * g[d] * g[d];
        const double first = m / (1 - std::pow(update.beta1, static_cast<double>(update.step)));
        const double correction = 1 - std::pow(update.beta2, static_cast<double>(update.step));
        row[d] -= update.epsilon_hat ? rate * std::sqrt(correction) * first / (std::sqrt(v) + epsilon)
                                     : rate * first / (std::sqrt(v / correction) + epsilon);
        break;
      }
    }
  }
  return row;
}

}  // namespace embedding_test
