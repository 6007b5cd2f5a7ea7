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

/// Equal on all ranks.
struct ParameterServerOptions {
  ServerOptimizer optimizer = ServerOptimizer::sgd;
  float epsilon = 1e-10F;
  bool direct = true;  ///< load and store where all ranks share a node's memory; else, and with false, MPI one-sided
};

/// A table of rows x dim float32 values, of which each rank holds a block of rows, that every rank reads and updates at
/// any time without the owner taking part: request-style use, as of a parameter server (Li et al., OSDI 2014). One
/// thread of a rank at a time. It keeps the communicator alive, and ends before MPI_Finalize.
///
/// Consistency: a pull sees each row as some whole number of pushes has left it, and a push is applied to each row
/// whole (rows are atomic; different rows are not ordered). A push has been applied when push() returns. fence() orders
/// all before it before all after it, on all ranks. A rank that loses the processor inside a push keeps others from the
/// row that it is at, who give way; the communicator's timeout bounds that.
///
/// Over MPI, rows are requested in batches, three messages there and back for each rank that has some. Whether they are
/// served while their owner computes is the host MPI's: MPICH serves ranks of other nodes only inside calls of the
/// owner, so one that computes for long should call progress() now and then (or set MPIR_CVAR_ASYNC_PROGRESS=1).
/// Counterpart: MPI_Win_lock_all, MPI_Get, MPI_Accumulate.
class TUTTI_EXPORT ParameterServer {
 public:
  /// Collective; blocking. Rows are zero; rank r holds the r-th of blocks of ceil(rows / size) of them. Errors, on all
  /// ranks alike: mismatch, out_of_memory, invalid_argument.
  ParameterServer(const Communicator& comm, std::int64_t rows, std::size_t dim,
                  const ParameterServerOptions& options = {});
  /// Collective.
  ~ParameterServer();
  ParameterServer(ParameterServer&&) noexcept;
  ParameterServer& operator=(ParameterServer&&) noexcept;
  ParameterServer(const ParameterServer&) = delete;
  ParameterServer& operator=(const ParameterServer&) = delete;

  /// out[i] = row rows[i]; out has rows.size() * dim values. Local in MPI's sense: nobody else takes part. Blocking.
  /// Errors: index_out_of_range before anything is read, naming the position and the range.
  void pull(std::span<const std::int64_t> rows, std::span<float> out) const;
  /// Updates row rows[i] with gradient i of `gradients` (rows.size() * dim values). A row that occurs more than once is
  /// updated once with the sum. Local in MPI's sense; blocking. Errors as pull().
  void push(std::span<const std::int64_t> rows, std::span<const float> gradients, float learning_rate);
  /// Collective; blocking.
  void fence();
  /// Serves requests of other ranks, where the host MPI has to be called for that. Local; never blocks.
  void progress();

  /// This rank's rows [first_row(), first_row() + local rows), for filling and saving between two fences.
  [[nodiscard]] std::span<float> local();
  [[nodiscard]] std::int64_t first_row() const;
  [[nodiscard]] std::int64_t rows() const;
  [[nodiscard]] std::size_t dim() const;
  /// "direct" or "mpi": how rows are reached.
  [[nodiscard]] std::string path() const;

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace tutti
