// SPDX-License-Identifier: BSD-3-Clause
#include "settings.hpp"

#include <cstdlib>
#include <string_view>

namespace tutti::preload {
namespace {

std::string_view value_of(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? std::string_view() : text;
}

Settings read() {
  Settings found;
  found.is_on = value_of("TUTTI_MPI") != "0";
  found.reports = value_of("TUTTI_MPI_REPORT") == "1";
  // The ways of the calls are known to the library only.
  if (found.reports) setenv("TUTTI_LOG", "summary", 0);
  return found;
}

}  // namespace

const Settings& settings() {
  static const Settings found = read();
  return found;
}

}  // namespace tutti::preload
