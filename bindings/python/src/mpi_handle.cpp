// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>
#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <tutti/error.hpp>

#include "communicator.hpp"
#include "fortran_handles.h"

namespace nb = nanobind;

namespace tutti::python {
namespace {

/// Reads the handle in mpi4py's object; both libraries agree on its size, being one.
MPI_Comm handle_of(nb::handle communicator, const nb::module_& mpi) {
  check_mpi4py();
  const auto size = nb::cast<std::size_t>(mpi.attr("_sizeof")(communicator));
  if (size != sizeof(MPI_Comm))
    throw Error(ErrorCode::mismatch, "mpi4py's handles have " + std::to_string(size) + " bytes, Tutti's " +
                                         std::to_string(sizeof(MPI_Comm)) +
                                         ": they use the ABIs of different MPI libraries; install mpi4py for the MPI "
                                         "that Tutti is built with");
  return *reinterpret_cast<const MPI_Comm*>(nb::cast<std::uintptr_t>(mpi.attr("_addressof")(communicator)));
}

}  // namespace

MPI_Comm mpi_communicator_from(nb::handle object) {
  ensure_initialized();
  if (object.is_none()) return MPI_COMM_WORLD;
  if (nb::isinstance<nb::int_>(object)) return TUTTI_COMM_FROM_FORTRAN(nb::cast<int>(object));
  const nb::dict modules = nb::borrow<nb::dict>(nb::module_::import_("sys").attr("modules"));
  if (modules.contains("mpi4py.MPI")) {
    const auto mpi = nb::borrow<nb::module_>(modules["mpi4py.MPI"]);
    if (PyObject_IsInstance(object.ptr(), nb::object(mpi.attr("Comm")).ptr()) == 1) return handle_of(object, mpi);
  }
  throw nb::type_error("argument comm is neither None, an mpi4py communicator nor an integer handle of Fortran");
}

}  // namespace tutti::python
