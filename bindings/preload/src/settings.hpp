// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tutti::preload {

/// The environment variables of this library, read once.
struct Settings {
  bool is_on = true;     ///< TUTTI_MPI=0 passes every call on
  bool reports = false;  ///< TUTTI_MPI_REPORT=1
};
[[nodiscard]] const Settings& settings();

/// Throws tutti::Error if one of the switches of this library has a text that is no switch's.
void check_switches();

}  // namespace tutti::preload
