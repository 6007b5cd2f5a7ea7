// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "study.hpp"

namespace sgd {

/// --scaling, --breakdown, --sweep-buckets, and --workload alone. They share their flags, which the first one adds.
[[nodiscard]] std::vector<std::unique_ptr<Study>> make_workload_studies();

}  // namespace sgd
