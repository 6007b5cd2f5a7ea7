// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <string>
#include <tutti/error.hpp>
#include <utility>
#include <vector>

#include "diagnosis/snapshot.hpp"

namespace tutti::tools {

/// The jobs whose recorders TUTTI_FLIGHT has kept in folders or files. Names on standard error what it passes over.
/// Throws tutti::Error, which begins with the name of the command, if there is no recorder.
[[nodiscard]] inline std::vector<detail::flight::Job> kept_jobs(const char* command,
                                                                const std::vector<std::string>& paths) {
  std::vector<detail::flight::Snapshot> all;
  std::vector<std::string> problems;
  for (const std::string& path : paths)
    for (auto& snapshot : detail::flight::read_recorders(path, problems)) all.push_back(std::move(snapshot));
  if (all.empty())
    throw Error(ErrorCode::io,
                fmt::format("{}: {}; name a folder or files of TUTTI_FLIGHT", command, fmt::join(problems, "; ")));
  for (const std::string& problem : problems) fmt::print(stderr, "tutti: {}\n", problem);
  return jobs_of(std::move(all));
}

}  // namespace tutti::tools
