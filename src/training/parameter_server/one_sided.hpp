// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "training/parameter_server/access.hpp"
#include "training/parameter_server/window.hpp"

namespace tutti::detail::server {

/// Reaches rows by MPI one-sided operations, in batches. A push makes three round trips: it claims the words (by a
/// fetching addition, which also fetches the optimizer's state), adds to the rows, and releases the words with a new
/// version. Where another rank holds the claim, it is undone and tried again, so no rank waits while it holds one. A
/// pull makes three round trips: words, rows, words again.
class OneSidedRows final : public RowAccess {
 public:
  OneSidedRows(const Communicator& comm, const RowShape& shape);
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
  /// The memory that MPI reads and writes: it outlives a round trip that did not end.
  struct Scratch {
    Rows rows;
    Words added, before, after;
    std::vector<float> change, values;
  };
  struct Claims {
    Rows owned;
    Words words;  ///< words of the owned rows, before the claim
    Rows lost;
  };

  /// One round trip. Lost rows count as claimed too until start_undo() and a finish.
  [[nodiscard]] Claims claim(const Rows& rows);
  void start_undo(const Rows& lost);
  /// One round trip: the word of rows[i] goes from words[i] to next[i].
  void release(const Rows& rows, const Words& words, const Words& next);
  /// Calls take(row, values) for each row that could be read whole; returns the others.
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

  Communicator comm_;
  RowShape shape_;
  RowWord word_;
  RowWindow window_;
  std::unique_ptr<Scratch> scratch_ = std::make_unique<Scratch>();
  std::minstd_rand random_;
};

}  // namespace tutti::detail::server
