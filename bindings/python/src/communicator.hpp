// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <string>
#include <tutti/communicator.hpp>
#include <utility>

#include "request.hpp"

namespace tutti::python {

/// A communicator that a program frees by free() or by a with statement. Freeing is collective and Python's collector
/// is not: a communicator that is dropped lives on until MPI_Finalize.
class PythonCommunicator {
 public:
  explicit PythonCommunicator(Communicator communicator) noexcept : communicator_(std::move(communicator)) {}
  ~PythonCommunicator();
  PythonCommunicator(const PythonCommunicator&) = delete;
  PythonCommunicator& operator=(const PythonCommunicator&) = delete;

  [[nodiscard]] const Communicator& get() const noexcept { return communicator_; }
  void free();
  void abort(const std::string& reason) noexcept { communicator_.abort(reason); }

  /// Runs a call of this communicator without the interpreter's lock.
  template <typename Call>
  auto run(Held& held, const Call& call) {
    const Turn turn(busy_, ErrorCode::invalid_communicator,
                    "another thread is in a call on this communicator; one thread at a time may use a communicator: "
                    "give each thread its own, by dup()");
    return without_lock(held, call);
  }
  template <typename Call>
  auto run(const Call& call) {
    Held nothing;
    return run(nothing, call);
  }

 private:
  Communicator communicator_;
  std::atomic<bool> busy_{false};
};

using CommunicatorClass = nanobind::class_<PythonCommunicator>;

/// The MPI communicator behind an mpi4py communicator or an integer Fortran handle; None is MPI_COMM_WORLD. Initialises
/// MPI. Throws Error(mismatch) if mpi4py uses another MPI library than Tutti.
[[nodiscard]] MPI_Comm mpi_communicator_from(nanobind::handle object);

/// Throws Error(mismatch) if mpi4py is in this process and uses another MPI library.
void check_mpi4py();

/// Initialises MPI unless the program has, with MPI_THREAD_MULTIPLE; it is finalized when the interpreter ends.
void initialize(const std::string& threads, bool progress_thread);
void ensure_initialized();

void bind_environment(nanobind::module_& module);
[[nodiscard]] CommunicatorClass bind_communicator(nanobind::module_& module);
void bind_movements(CommunicatorClass& communicator);
void bind_reductions(CommunicatorClass& communicator);
void bind_exact(nanobind::module_& module, CommunicatorClass& communicator);
void bind_v_forms(CommunicatorClass& communicator);
void bind_neighborhoods(CommunicatorClass& communicator);
void bind_point_to_point(CommunicatorClass& communicator);

}  // namespace tutti::python
