// SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/nanobind.h>

#include <tutti/environment.hpp>

NB_MODULE(_core, module) { module.def("version", &tutti::version, "The version of the library: \"0.1.0\"."); }
