// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "tools/doctor/path_test.hpp"
#include "tools/doctor/rules.hpp"

namespace tutti::tools::doctor {

/// All that `tutti doctor` says.
struct Report {
  Job job{};
  std::vector<Finding> findings{};  ///< the gravest first
  PathTests tests{};
  double slow = 3;  ///< as PathEffort
};

[[nodiscard]] std::size_t count_of(const Report& report, Severity severity);

/// For people: the job, the findings with their remedies, the tests of paths, a summary.
[[nodiscard]] std::string report_text(const Report& report);
[[nodiscard]] std::string report_json(const Report& report);

}  // namespace tutti::tools::doctor
