// SPDX-License-Identifier: BSD-3-Clause
#include "study.hpp"
#include "workload_study.hpp"

namespace sgd {

std::vector<std::unique_ptr<Study>> make_studies() { return make_workload_studies(); }

}  // namespace sgd
