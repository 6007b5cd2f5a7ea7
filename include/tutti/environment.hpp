// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <tutti/detail/export.hpp>

namespace tutti {

/// MPI's thread levels.
enum class ThreadLevel : int { single = 0, funneled = 1, serialized = 2, multiple = 3 };

struct EnvironmentOptions {
  ThreadLevel threads = ThreadLevel::funneled;  ///< asked of MPI_Init_thread when this object initialises MPI
  bool progress_thread = false;                 ///< drive outstanding operations from a thread (needs multiple)
};

/// Initialises what the caller has not: MPI, when it is not initialised yet (then the caller must not do it later).
/// What it initialised it finalizes at its end. Collective over MPI_COMM_WORLD only where it initialises or finalizes
/// MPI. C and Fortran programs need none, nor does a C++ program that called MPI_Init itself.
/// Counterpart: MPI_Init_thread and MPI_Finalize.
class TUTTI_EXPORT Environment {
 public:
  Environment(int& argc, char**& argv, const EnvironmentOptions& options = {});
  explicit Environment(const EnvironmentOptions& options = {});
  ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  /// Whether this object initialised MPI.
  [[nodiscard]] bool owns_mpi() const noexcept { return owns_mpi_; }

  /// Starts and stops the thread that drives outstanding operations. Throws ErrorCode::not_supported below
  /// MPI_THREAD_MULTIPLE. Local. TUTTI_PROGRESS_THREAD=1 has the same effect.
  static void start_progress_thread();
  static void stop_progress_thread() noexcept;

 private:
  bool owns_mpi_ = false;
};

/// Drives all outstanding operations of this process a little. Never blocks. Local.
TUTTI_EXPORT void progress();

/// "0.1.0".
[[nodiscard]] TUTTI_EXPORT const char* version() noexcept;

/// One line a fact: version, MPI library, Kokkos, CUDA and NCCL as built and as found.
[[nodiscard]] TUTTI_EXPORT std::string config_summary();

}  // namespace tutti
