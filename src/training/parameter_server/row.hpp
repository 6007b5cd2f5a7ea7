// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tutti/parameter_server.hpp>
#include <utility>
#include <vector>

namespace tutti::detail::server {

/// The word beside each row. Its high half is the optimizer's state of the row (one float32); its low half a version,
/// which every push changes, and the number of ranks that claim the row. Words change only by additions, whose order
/// MPI may choose.
class RowWord {
 public:
  explicit RowWord(int ranks) : claim_bits_(std::bit_width(static_cast<unsigned>(ranks))) {}

  static constexpr std::uint64_t claim = 1;
  static constexpr std::uint64_t unclaim = ~std::uint64_t{0};

  [[nodiscard]] bool is_free(std::uint64_t word) const { return (word & ((std::uint64_t{1} << claim_bits_) - 1)) == 0; }
  [[nodiscard]] static float state(std::uint64_t word) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(word >> 32U));
  }
  /// The free word after a push to the row that had the free word `before`.
  [[nodiscard]] std::uint64_t next(std::uint64_t before, float state) const {
    const std::uint64_t counted = (before + (std::uint64_t{1} << claim_bits_)) & low_half;
    return std::uint64_t{std::bit_cast<std::uint32_t>(state)} << 32U | counted;
  }

 private:
  static constexpr std::uint64_t low_half = 0xffff'ffffU;
  int claim_bits_;
};

/// How a push changes a row.
struct RowRule {
  ServerOptimizer optimizer = ServerOptimizer::sgd;
  float epsilon = 0;

  /// The state after a gradient.
  [[nodiscard]] float next_state(float state, std::span<const float> gradient) const {
    if (optimizer == ServerOptimizer::sgd) return state;
    double squares = 0;
    for (const float g : gradient) squares += static_cast<double>(g) * static_cast<double>(g);
    return state + static_cast<float>(squares / static_cast<double>(gradient.size()));
  }
  /// The value to add to the row, given the state after the gradient.
  void change(float state, std::span<const float> gradient, float rate, float* out) const {
    if (optimizer == ServerOptimizer::sgd) {
      for (std::size_t d = 0; d < gradient.size(); ++d) out[d] = -(rate * gradient[d]);
    } else {
      const float denominator = std::sqrt(state) + epsilon;
      for (std::size_t d = 0; d < gradient.size(); ++d) out[d] = -(rate * gradient[d] / denominator);
    }
  }
};

/// A row at one position of a request.
struct Occurrence {
  std::int64_t row = 0;
  std::size_t position = 0;
};

/// Ascending by row, then by position.
[[nodiscard]] std::vector<Occurrence> sort_rows(std::span<const std::int64_t> rows);

/// Gradients by ascending row. Gradients of the same row are summed in the order of their positions.
class RowGradients {
 public:
  RowGradients(std::span<const std::int64_t> rows, std::span<const float> gradients, std::size_t dim);
  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  [[nodiscard]] std::span<const std::int64_t> rows() const { return rows_; }
  /// Valid as long as this object and the gradients that it was made from.
  [[nodiscard]] std::span<const float> gradient(std::size_t i) const { return {gradients_[i], dim_}; }

 private:
  std::size_t dim_;
  std::vector<std::int64_t> rows_;
  std::vector<const float*> gradients_;
  std::vector<float> sums_;
};

}  // namespace tutti::detail::server
