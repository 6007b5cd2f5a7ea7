// SPDX-License-Identifier: BSD-3-Clause
#include "tools/kept_jobs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <tutti/error.hpp>
#include <utility>

namespace tutti::tools {

using namespace detail::flight;

std::vector<Job> kept_jobs(const char* command, const std::vector<std::string>& paths) {
  std::vector<Snapshot> all;
  std::vector<std::string> problems;
  for (const std::string& path : paths)
    for (Snapshot& snapshot : read_recorders(path, problems)) all.push_back(std::move(snapshot));
  if (all.empty())
    throw Error(ErrorCode::io,
                fmt::format("{}: {}; name a folder or files of TUTTI_FLIGHT", command, fmt::join(problems, "; ")));
  for (const std::string& problem : problems) fmt::print(stderr, "tutti: {}\n", problem);
  return jobs_of(std::move(all));
}

}  // namespace tutti::tools
