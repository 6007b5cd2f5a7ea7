// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "workload_subject.hpp"

namespace sgd {

/// A line a method: the step, what it adds to the step without communication, also as a share of flat's, buckets,
/// bytes.
[[nodiscard]] std::string methods_text(const std::vector<Figures>& figures);
/// Whether averages were right, for people.
[[nodiscard]] std::string checked_text(std::size_t wrong);

[[nodiscard]] nlohmann::ordered_json to_json(const Figures& figures);
[[nodiscard]] std::size_t wrong_in(const std::vector<Figures>& figures);

}  // namespace sgd
