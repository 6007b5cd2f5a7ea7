// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "training/parameter_server_access.hpp"
#include "training/parameter_server_window.hpp"

namespace tutti::detail::server {

/// Rows over MPI one-sided, in batches. A push is three trips: claim the words (a fetching addition, which brings the
/// optimizer's state too), add to the rows, give the words back with a new version. Claims that others hold are undone
/// and tried again, so nobody waits while holding one. A pull is three trips: words, rows, words again.
class OneSidedRows final : public RowAccess {
 public:
  OneSidedRows(std::shared_ptr<Context> comm, const RowShape& shape);
  ~OneSidedRows() override;
  OneSidedRows(const OneSidedRows&) = delete;
  OneSidedRows& operator=(const OneSidedRows&) = delete;

  void pull(std::span<const std::int64_t> rows, std::span<float> out) override;
  void push(const RowGradients& gradients, const RowRule& rule, float rate) override;
  void fence() override;
  void progress() override { window_.progress(); }
  [[nodiscard]] float* local() override { return window_.local(); }
  [[nodiscard]] const char* name() const override { return "mpi"; }
  [[nodiscard]] const RowWindow& window() const { return window_; }

 private:
  using Rows = std::vector<std::int64_t>;
  using Words = std::vector<std::uint64_t>;
  /// What MPI reads and writes: it outlives a trip that did not end.
  struct Scratch {
    Rows rows;
    Words added, before, after;
    std::vector<float> change, values;
  };
  struct Claims {
    Rows owned;
    Words words;  ///< of the owned ones, before
    Rows lost;
  };

  /// One trip. Those that were lost are claimed all the same until start_undo() and a finish.
  [[nodiscard]] Claims claim(const Rows& rows);
  void start_undo(const Rows& lost);
  /// One trip: words[i] of rows[i] becomes next[i].
  void give_back(const Rows& rows, const Words& words, const Words& next);
  /// take(row, values) for each row that could be read whole; the others.
  template <typename Take>
  [[nodiscard]] Rows read_whole(const Rows& rows, const Take& take);
  template <typename Take>
  [[nodiscard]] Rows read_claimed(const Rows& rows, const Take& take);
  template <typename Take>
  void pull_batch(Rows rows, const Take& take);
  template <typename GradientOf>
  [[nodiscard]] Rows push_once(const Rows& rows, const GradientOf& gradient_of, const RowRule& rule, float rate);
  void check_usable() const;
  void back_off(RowWait& wait);
  [[nodiscard]] std::size_t batch_rows() const;

  std::shared_ptr<Context> comm_;
  RowShape shape_;
  RowWord word_;
  RowWindow window_;
  std::unique_ptr<Scratch> scratch_ = std::make_unique<Scratch>();
  std::minstd_rand random_;
};

}  // namespace tutti::detail::server
