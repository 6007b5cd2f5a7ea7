// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <tutti/detail/export.hpp>

namespace tutti {

/// MPI's thread levels.
enum class ThreadLevel : int { single = 0, funneled = 1, serialized = 2, multiple = 3 };

struct EnvironmentOptions {
  ThreadLevel threads = ThreadLevel::funneled;  ///< level requested if this object initialises MPI
  bool progress_thread = false;                 ///< drives outstanding operations from a thread (needs multiple)
  bool abort_on_exception = true;               ///< aborts the job if an exception ends the life of the object
};

/// Initialises MPI unless the caller has done so, and finalizes MPI at the end of its life if it initialised it. The
/// caller must not call MPI_Init afterwards. Collective over MPI_COMM_WORLD if it initialises or finalizes MPI, local
/// otherwise. If an exception ends the life of an object that initialised MPI, other ranks may wait for this one, and
/// MPI_Finalize would wait for them: the destructor then says so on stderr and calls nothing of MPI, and MPI_Abort ends
/// the job when the program exits, after its handler has printed the exception's text. With abort_on_exception = false
/// the destructor finalizes MPI in this case too, which is right if all ranks throw. C programs, Fortran programs and
/// C++ programs that call MPI_Init themselves need no Environment. Counterpart: MPI_Init_thread and MPI_Finalize.
class TUTTI_EXPORT Environment {
 public:
  Environment(int& argc, char**& argv, const EnvironmentOptions& options = {});
  explicit Environment(const EnvironmentOptions& options = {});
  ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  /// Returns true if this object initialised MPI.
  [[nodiscard]] bool owns_mpi() const noexcept { return owns_mpi_; }

  /// Starts or stops the thread that drives outstanding operations. TUTTI_PROGRESS_THREAD=1 starts it too. Local.
  /// Throws ErrorCode::not_supported below MPI_THREAD_MULTIPLE.
  static void start_progress_thread();
  static void stop_progress_thread() noexcept;

 private:
  bool owns_mpi_ = false;
  bool aborts_ = true;
  int exceptions_;  ///< under way when this object was made, in whose handling it lives
};

/// Advances all outstanding operations of this process without blocking. Local.
TUTTI_EXPORT void progress();

/// The version of the library, as TUTTI_VERSION_STRING.
[[nodiscard]] TUTTI_EXPORT const char* version() noexcept;

/// Lists the version, the MPI library, and Kokkos, CUDA and NCCL as built and as found, one fact per line.
[[nodiscard]] TUTTI_EXPORT std::string config_summary();

}  // namespace tutti
