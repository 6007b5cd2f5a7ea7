// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "call/backoff.hpp"
#include "call/context.hpp"
#include "core/mpi_call.hpp"
#include "training/parameter_server_row.hpp"

namespace tutti::detail::server {

/// How the rows are divided: rank r has [r * block, (r + 1) * block).
struct RowShape {
  std::int64_t rows = 0;
  std::size_t dim = 0;
  std::int64_t block = 0;

  RowShape(std::int64_t all, std::size_t values, int ranks)
      : rows(all), dim(values), block(std::max<std::int64_t>(1, all / ranks + (all % ranks != 0 ? 1 : 0))) {}
  [[nodiscard]] int owner(std::int64_t row) const { return static_cast<int>(row / block); }
  [[nodiscard]] std::int64_t first(int rank) const { return std::min(rows, block * rank); }
  [[nodiscard]] std::size_t count(int rank) const { return static_cast<std::size_t>(first(rank + 1) - first(rank)); }
  /// Bytes from the begin of a part, which has its rows, then their words.
  [[nodiscard]] std::size_t row_offset(std::int64_t row) const {
    return static_cast<std::size_t>(row % block) * dim * sizeof(float);
  }
  [[nodiscard]] std::size_t word_offset(std::int64_t row) const {
    return words_begin() + static_cast<std::size_t>(row % block) * sizeof(std::uint64_t);
  }
  /// In whole cache lines: MPICH 4.0 looks for other ranks' memory in the wrong place where a window's size is odd.
  [[nodiscard]] std::size_t bytes() const {
    return whole_lines(words_begin() + static_cast<std::size_t>(block) * sizeof(std::uint64_t));
  }

 private:
  static std::size_t whole_lines(std::size_t bytes) { return (bytes + 63) / 64 * 64; }
  [[nodiscard]] std::size_t words_begin() const {
    return whole_lines(static_cast<std::size_t>(block) * dim * sizeof(float));
  }
};

/// How rows are reached. Arguments have been checked.
class RowAccess {
 public:
  virtual ~RowAccess() = default;
  virtual void pull(std::span<const std::int64_t> rows, std::span<float> out) = 0;
  virtual void push(const RowGradients& gradients, const RowRule& rule, float rate) = 0;
  virtual void fence() = 0;
  virtual void progress() = 0;
  [[nodiscard]] virtual float* local() = 0;
  [[nodiscard]] virtual const char* name() const = 0;
};

/// How a rank waits for rows that others change, and for messages: it gives way; ends by an abort or the timeout.
class RowWait {
 public:
  RowWait(const Context& comm, const char* what) : comm_(comm), what_(what), backoff_(comm.topology.oversubscribed) {}
  void pause();

 private:
  const Context& comm_;
  const char* what_;
  Backoff backoff_;
  std::chrono::steady_clock::time_point begin_{};
};

/// Loads and stores; null, on all ranks, where they do not share memory. Collective, as is the next.
[[nodiscard]] std::unique_ptr<RowAccess> make_direct(std::shared_ptr<Context> comm, const RowShape& shape);
/// MPI one-sided.
[[nodiscard]] std::unique_ptr<RowAccess> make_one_sided(std::shared_ptr<Context> comm, const RowShape& shape);

}  // namespace tutti::detail::server
