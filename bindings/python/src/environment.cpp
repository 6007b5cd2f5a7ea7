// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <tutti/parts.h>
#include <array>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <tutti/device.hpp>
#include <tutti/environment.hpp>
#include <tutti/error.hpp>

#include "communicator.hpp"
#if TUTTI_HAS_TRAINING
#include "training/training.hpp"
#endif

namespace nb = nanobind;

namespace tutti::python {
namespace {

/// Never destroyed but by finish(): the interpreter's end is the moment at which MPI_Finalize may wait for others.
std::unique_ptr<Environment>& environment() {
  static auto* const made = new std::unique_ptr<Environment>;
  return *made;
}

ThreadLevel level_from(const std::string& name) {
  static constexpr std::array<const char*, 4> names{"single", "funneled", "serialized", "multiple"};
  for (std::size_t i = 0; i < names.size(); ++i)
    if (name == names[i]) return static_cast<ThreadLevel>(i);
  throw Error(ErrorCode::invalid_argument,
              "init: argument threads is '" + name + "'; pass 'single', 'funneled', 'serialized' or 'multiple'");
}

bool mpi_flag(int (*function)(int*)) {
  int flag = 0;
  function(&flag);
  return flag != 0;
}

/// Called when the interpreter ends. After an exception that nothing has caught, other ranks may wait for this one, and
/// MPI_Finalize would wait for them.
void finish(bool failed) {
  std::unique_ptr<Environment>& made = environment();
  if (failed && made && made->owns_mpi() && !mpi_flag(MPI_Finalized)) {
    int ranks = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks > 1) MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  const nb::gil_scoped_release unlocked;
#if TUTTI_HAS_TRAINING
  if (!failed && !mpi_flag(MPI_Finalized)) free_servers();
#endif
  made.reset();
}

/// Open MPI's text ends with a null that mpi4py passes on.
std::string first_line(std::string_view text) {
  constexpr std::string_view ends("\n\0", 2);
  return std::string(text.substr(0, text.find_first_of(ends)));
}

std::string own_mpi() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  return {text.data(), static_cast<std::size_t>(length)};
}

/// A program that has loaded another MPI for all of its libraries gives this one to Tutti too.
void check_own_mpi() {
#ifdef MPI_ABI_VERSION  // one ABI for all
  return;
#endif
#ifdef OPEN_MPI
  constexpr bool built_for_open_mpi = true;
#else
  constexpr bool built_for_open_mpi = false;
#endif
  const std::string found = first_line(own_mpi());
  if (found.starts_with("Open MPI") != built_for_open_mpi)
    throw Error(ErrorCode::mismatch, "this process has loaded another MPI library (" + found +
                                         ") than the one that Tutti is built for (" +
                                         (built_for_open_mpi ? "Open MPI" : "MPICH or one with its ABI") +
                                         "): see mpi4py in docs/python.md");
}

}  // namespace

void check_mpi4py() {
  check_own_mpi();
  const nb::dict modules = nb::borrow<nb::dict>(nb::module_::import_("sys").attr("modules"));
  if (!modules.contains("mpi4py.MPI")) return;
  const nb::object mpi = nb::borrow(modules["mpi4py.MPI"]);
  const std::string theirs = nb::cast<std::string>(nb::str(mpi.attr("Get_library_version")()));
  const bool same_state = nb::cast<bool>(mpi.attr("Is_initialized")()) == mpi_flag(MPI_Initialized);
  if (first_line(own_mpi()) == first_line(theirs) && same_state) return;
  throw Error(
      ErrorCode::mismatch,
      "mpi4py uses another MPI library (" + first_line(theirs) + ") than Tutti (" + first_line(own_mpi()) +
          "), and a handle of one means nothing to the other. Install mpi4py from its source with the MPI of Tutti "
          "(MPICC=mpicc.mpich pip install --no-binary mpi4py mpi4py), or let its wheel load that MPI: set "
          "MPI4PY_MPIABI to mpich or openmpi, and LD_LIBRARY_PATH to a folder where libmpi.so.12 (openmpi: "
          "libmpi.so.40) is that library");
}

void initialize(const std::string& threads, bool progress_thread) {
  if (!environment()) {
    EnvironmentOptions options;
    options.threads = level_from(threads);
    options.abort_on_exception = false;
    const nb::gil_scoped_release unlocked;
    environment() = std::make_unique<Environment>(options);
  }
  check_mpi4py();
  if (progress_thread) Environment::start_progress_thread();
}

void ensure_initialized() {
  check_own_mpi();
  if (!environment() && !mpi_flag(MPI_Initialized)) initialize("multiple", false);
}

void bind_environment(nb::module_& module) {
  module.def("init", initialize, nb::arg("threads") = "multiple", nb::arg("progress_thread") = false,
             "Initialises MPI unless the program has done so (mpi4py does when it is imported), with the thread level "
             "'single', 'funneled', 'serialized' or 'multiple'. MPI is finalized when the interpreter ends; after an "
             "exception that nothing has caught the job is aborted instead, because other ranks may wait for this one. "
             "progress_thread=True drives outstanding operations from a thread. Collective over MPI_COMM_WORLD if it "
             "initialises MPI. Raises Error if mpi4py uses another MPI library.");
  module.def("_finish", finish, nb::arg("failed"));
  module.def("_check_mpi4py", check_mpi4py);
  module.def(
      "progress",
      [] {
        {
          const nb::gil_scoped_release unlocked;
          progress();
        }
        look_after_dropped_requests();
      },
      "Advances all outstanding operations of this process without blocking.");
  module.def("version", &version, "The version of the library, as a text of three numbers with points between.");
  module.def("config_summary", &config_summary,
             "Lists the version, the MPI library, and Kokkos, CUDA and NCCL as built and as found, one fact per line.");
  module.def("why_no_device", &why_no_device, "The reason why this process can use no GPU; empty if it can.");
}

}  // namespace tutti::python
