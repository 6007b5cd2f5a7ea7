// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <tutti/collectives/allgather.hpp>
#include <vector>

#include "collectives/services.hpp"
#include "training/parameter_server/row.hpp"

namespace tutti::detail::server {

/// How the rows are divided: rank r holds the rows [r * block, (r + 1) * block).
struct RowShape {
  std::int64_t rows = 0;
  std::size_t dim = 0;
  std::int64_t block = 0;

  RowShape(std::int64_t all, std::size_t values, int ranks)
      : rows(all), dim(values), block(std::max<std::int64_t>(1, all / ranks + (all % ranks != 0 ? 1 : 0))) {}
  [[nodiscard]] int owner(std::int64_t row) const { return static_cast<int>(row / block); }
  [[nodiscard]] std::int64_t first(int rank) const { return std::min(rows, block * rank); }
  [[nodiscard]] std::size_t count(int rank) const { return static_cast<std::size_t>(first(rank + 1) - first(rank)); }
  /// Offsets in bytes in a rank's part, which holds its rows, then their words.
  [[nodiscard]] std::size_t row_offset(std::int64_t row) const {
    return static_cast<std::size_t>(row % block) * dim * sizeof(float);
  }
  [[nodiscard]] std::size_t word_offset(std::int64_t row) const {
    return words_begin() + static_cast<std::size_t>(row % block) * sizeof(std::uint64_t);
  }
  /// Size of a part, in whole cache lines: MPICH 4.0 miscalculates where other ranks' memory is if a window's size is
  /// odd.
  [[nodiscard]] std::size_t bytes() const {
    return whole_lines(words_begin() + static_cast<std::size_t>(block) * sizeof(std::uint64_t));
  }

 private:
  static std::size_t whole_lines(std::size_t bytes) { return (bytes + 63) / 64 * 64; }
  [[nodiscard]] std::size_t words_begin() const {
    return whole_lines(static_cast<std::size_t>(block) * dim * sizeof(float));
  }
};

/// Reaches rows on any rank. The caller has checked the arguments.
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

/// Waits for rows that other ranks are changing, and for messages. Pausing yields the processor, and throws after an
/// abort or the communicator's timeout.
class RowWait {
 public:
  /// `call` is named in errors.
  RowWait(const Communicator& comm, const char* call)
      : comm_(comm), call_(call), backoff_(comm.topology().oversubscribed) {}
  void pause();

 private:
  const Communicator& comm_;
  const char* call_;
  Backoff backoff_;
  std::chrono::steady_clock::time_point begin_{};
};

/// Each rank's value on all ranks. Collective; blocking.
template <typename T>
std::vector<T> all_values(const Communicator& comm, const T& mine) {
  constexpr Datatype type = Datatype::bytes(sizeof(T));
  std::vector<T> all(static_cast<std::size_t>(comm.size()));
  allgather(comm, ConstBuffer(&mine, 1, type, MemoryKind::host),
            Buffer(all.data(), all.size(), type, MemoryKind::host));
  return all;
}

/// Access by loads and stores; null, on all ranks, unless they share memory. Collective.
[[nodiscard]] std::unique_ptr<RowAccess> make_direct(const Communicator& comm, const RowShape& shape);
/// Access by MPI one-sided operations. Collective.
[[nodiscard]] std::unique_ptr<RowAccess> make_one_sided(const Communicator& comm, const RowShape& shape);

}  // namespace tutti::detail::server
