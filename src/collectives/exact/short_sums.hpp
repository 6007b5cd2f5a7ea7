// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <tutti/buffer.hpp>
#include <tutti/communicator.hpp>
#include <vector>

#include "collectives/exact/work.hpp"
#include "kernels/exact_expansion.hpp"

namespace tutti::detail {

/// The sums of all ranks in their short form, for an allgather in place. The block of a rank has the first parts of all
/// its sums, then the second and the third ones, or the first ones alone.
class ShortSums {
 public:
  static constexpr std::size_t most_parts = 3;

  ShortSums(const Communicator& comm, ExactWork& work);

  /// Takes this rank's sums, `parts` words each. The block is a misfit if one of them is.
  void fill(std::size_t parts);
  [[nodiscard]] Buffer blocks() noexcept { return {words(), ranks_ * block()}; }

  // After the allgather, equal on all ranks:
  /// Whether the block of any rank is a misfit.
  [[nodiscard]] bool has_misfit() const noexcept;
  /// Whether each sum of each rank is one number.
  [[nodiscard]] bool is_single() const noexcept;
  /// Hands the totals to the work.
  void finish();

  /// This rank's sums in full, as they were taken.
  [[nodiscard]] std::span<FixedPoint> in_full();

 private:
  [[nodiscard]] std::size_t block() const noexcept { return parts_ * work_.sums(); }
  [[nodiscard]] const double* words() const noexcept { return many_ ? many_.get() : few_.data(); }
  [[nodiscard]] double* words() noexcept { return many_ ? many_.get() : few_.data(); }
  [[nodiscard]] kernels::exact::Expansion own(std::size_t i);
  [[nodiscard]] kernels::exact::Expansion of_rank(std::size_t rank, std::size_t i) const noexcept;
  void fill_numbers(const double* numbers) noexcept;
  void fill_in_full();
  [[nodiscard]] double* own_block() noexcept { return words() + rank_ * block(); }
  void finish(std::size_t i, double* rounded);

  ExactWork& work_;
  std::size_t rank_;
  std::size_t ranks_;
  std::size_t parts_ = most_parts;
  std::array<double, 512> few_;  ///< not initialised, which takes as long as the rest of a call
  std::unique_ptr<double[]> many_{};
  std::vector<FixedPoint> full_{};  ///< of the sums that have needed it; of a misfit all
};

}  // namespace tutti::detail
