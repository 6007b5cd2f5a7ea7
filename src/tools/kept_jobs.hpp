// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "diagnosis/snapshot.hpp"

namespace tutti::tools {

/// The jobs whose recorders TUTTI_FLIGHT has kept in folders or files. Names on standard error what it passes over.
/// Throws tutti::Error, which begins with the name of the command, if there is no recorder.
[[nodiscard]] std::vector<detail::flight::Job> kept_jobs(const char* command, const std::vector<std::string>& paths);

}  // namespace tutti::tools
