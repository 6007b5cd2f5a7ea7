// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <tutti/sharding_plan.hpp>
#include <utility>
#include <vector>

#include "common/data_source.hpp"
#include "common/metrics.hpp"
#include "common/results.hpp"
#include "inference.hpp"
#include "model_shape.hpp"
#include "options.hpp"
#include "run_results.hpp"
#include "step_bench.hpp"

namespace dlrm {

using Configuration = std::vector<std::pair<std::string, std::string>>;

/// What is run, name and value, for the header and for --json-file.
[[nodiscard]] Configuration configuration(const Options& options, const ModelShape& shape,
                                          const tutti::miniapps::DataSource& source, const tutti::ShardingPlan& plan);

/// How batches come to the steps.
[[nodiscard]] std::string prefetch_text(std::uint64_t ahead);
[[nodiscard]] std::string header_text(const Configuration& configuration, int ranks);
/// The reference's line of a printed loss.
[[nodiscard]] std::string loss_text(const LossEntry& entry, std::uint64_t batches);
[[nodiscard]] std::string test_text(const tutti::miniapps::TestPoint& test);
/// A table of where the time of a step went, and the exposed communication.
[[nodiscard]] std::string phase_text(const TrainingResults& results);

/// The same of a GPU, whose steps are not divided.
[[nodiscard]] std::string device_text(const TrainingResults& results, std::uint64_t graph_steps);

[[nodiscard]] std::string inference_text(const InferenceResults& results);

[[nodiscard]] tutti::miniapps::Results json_results(const Configuration& configuration, int ranks,
                                                    const TrainingResults& results,
                                                    const std::vector<tutti::miniapps::TestPoint>& tests);
[[nodiscard]] tutti::miniapps::Results json_results(const Configuration& configuration, int ranks,
                                                    const InferenceResults& results);
[[nodiscard]] tutti::miniapps::Results json_results(const Configuration& configuration, int ranks,
                                                    const std::vector<StepTime>& times);

}  // namespace dlrm
