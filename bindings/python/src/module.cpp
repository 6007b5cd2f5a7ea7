// SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/nanobind.h>

#include <tutti/parts.h>

#include "communicator.hpp"
#include "error.hpp"
#include "operation.hpp"
#include "request.hpp"
#include "view.hpp"

#if TUTTI_HAS_TRAINING
#include "training/training.hpp"
#endif

NB_MODULE(_core, module) {
  namespace python = tutti::python;
  // Objects that are dropped during a call live until the end on purpose.
  nanobind::set_leak_warnings(false);
  module.doc() = "The compiled part of the package tutti.";
  python::bind_error(module);
  python::bind_in_place(module);
  python::bind_operation(module);
  python::bind_environment(module);
  python::bind_request(module);
  python::CommunicatorClass communicator = python::bind_communicator(module);
  python::bind_movements(communicator);
  python::bind_reductions(communicator);
  python::bind_exact(module, communicator);
  python::bind_v_forms(communicator);
  python::bind_neighborhoods(communicator);
  python::bind_point_to_point(communicator);
#if TUTTI_HAS_TRAINING
  python::bind_reducer(module);
  python::bind_embeddings(module);
  python::bind_parameter_server(module);
#endif
}
