// SPDX-License-Identifier: BSD-3-Clause
#include "settings.hpp"

#include <cstdlib>
#include <tutti/error.hpp>

#include "core/variables.hpp"

namespace tutti::preload {
namespace {

bool value_of(const char* name, bool otherwise) {
  try {
    return tutti::detail::read_flag(name, otherwise);
  } catch (const Error&) {  // check_switches() has said it
    return otherwise;
  }
}

Settings read() {
  Settings found;
  found.is_on = value_of("TUTTI_MPI", true);
  found.reports = value_of("TUTTI_MPI_REPORT", false);
  // The ways of the calls are known to the library only.
  if (found.reports) setenv("TUTTI_LOG", "summary", 0);
  return found;
}

}  // namespace

void check_switches() {
  for (const char* name : {"TUTTI_MPI", "TUTTI_MPI_REPORT", "TUTTI_MPI_YIELD"}) (void)tutti::detail::read_flag(name);
}

const Settings& settings() {
  static const Settings found = read();
  return found;
}

}  // namespace tutti::preload
