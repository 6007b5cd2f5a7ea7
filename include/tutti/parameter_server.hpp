// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <tutti/communicator.hpp>
#include <tutti/detail/export.hpp>

namespace tutti {

enum class ServerOptimizer : std::uint8_t {
  sgd,               ///< w -= lr * g
  row_wise_adagrad,  ///< m += mean(g^2); w -= lr * g / (sqrt(m) + epsilon)
};

/// Must be equal on all ranks.
struct ParameterServerOptions {
  ServerOptimizer optimizer = ServerOptimizer::sgd;
  float epsilon = 1e-10F;
  bool direct = true;  ///< loads and stores if all ranks share a node's memory; otherwise uses MPI one-sided operations
};

/// A table of rows x dim float32 values. Each rank holds a block of rows, and every rank reads and updates any row at
/// any time without the owner taking part, as with a parameter server (Li et al., OSDI 2014). One thread of a rank at a
/// time may call it. It keeps the communicator alive, and must be destroyed before MPI_Finalize.
///
/// Consistency: rows are atomic, and different rows are not ordered. A pull sees each row after some whole number of
/// pushes, and a push is applied to each row as a whole. A push has been applied when push() returns. fence() orders
/// all operations before it, on all ranks, before all operations after it. A rank that loses the processor inside a
/// push blocks the row that it is updating; the others yield, at most for the communicator's timeout.
///
/// Over MPI, rows are requested in batches, in three round trips to each rank that holds some of them. The host MPI
/// decides whether they are served while their owner computes: MPICH serves ranks of other nodes only inside calls of
/// the owner, so a rank that computes for long should call progress() now and then (or set MPIR_CVAR_ASYNC_PROGRESS=1).
/// Counterpart: MPI_Win_lock_all, MPI_Get, MPI_Accumulate.
class TUTTI_EXPORT ParameterServer {
 public:
  /// Makes a table of zeros; rank r holds the r-th block of ceil(rows / size) rows. Collective; blocking. Errors, on
  /// all ranks alike: mismatch, out_of_memory, invalid_argument.
  ParameterServer(const Communicator& comm, std::int64_t rows, std::size_t dim,
                  const ParameterServerOptions& options = {});
  /// Collective.
  ~ParameterServer();
  ParameterServer(ParameterServer&&) noexcept;
  ParameterServer& operator=(ParameterServer&&) noexcept;
  ParameterServer(const ParameterServer&) = delete;
  ParameterServer& operator=(const ParameterServer&) = delete;

  /// Reads rows: out[i] = row rows[i]; out has rows.size() * dim values. No other rank takes part. Blocking. Errors:
  /// index_out_of_range before anything is read, naming the position and the range.
  void pull(std::span<const std::int64_t> rows, std::span<float> out) const;
  /// Updates row rows[i] with gradient i of `gradients` (rows.size() * dim values). A row that occurs more than once is
  /// updated once, with the sum. No other rank takes part. Blocking. Errors: as pull().
  void push(std::span<const std::int64_t> rows, std::span<const float> gradients, float learning_rate);
  /// Orders operations: see above. Collective; blocking.
  void fence();
  /// Serves requests of other ranks, if the host MPI must be called for that. Local; never blocks.
  void progress();

  /// This rank's rows, from first_row() on, to fill and to save between two fences.
  [[nodiscard]] std::span<float> local();
  [[nodiscard]] std::int64_t first_row() const;
  [[nodiscard]] std::int64_t rows() const;
  [[nodiscard]] std::size_t dim() const;
  /// The way to reach rows: "direct" or "mpi".
  [[nodiscard]] std::string path() const;

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace tutti
