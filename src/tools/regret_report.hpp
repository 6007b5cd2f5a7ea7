// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "planner/key.hpp"
#include "tools/regret.hpp"

namespace tutti::tools {

/// A run of `tutti regret`.
struct RegretReport {
  detail::tuning::Key machine{};
  std::vector<detail::tuning::Regret> regrets{};  ///< the worst first
  std::size_t left = 0;                           ///< cells for which the budget did not suffice
};

/// A table of at most `rows` cells, the worst first, and a summary of all.
[[nodiscard]] std::string regret_text(const RegretReport& report, std::size_t rows);
[[nodiscard]] std::string regret_json(const RegretReport& report);

}  // namespace tutti::tools
