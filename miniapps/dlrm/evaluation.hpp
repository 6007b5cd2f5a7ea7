// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tutti/communicator.hpp>

#include "batch_feed.hpp"
#include "common/metrics.hpp"
#include "engine.hpp"

namespace dlrm {

/// Predicts all test samples and compares; equal on all ranks and for any number of them. Collective over `comm`;
/// blocking. Throws AgreedError where scores are not numbers.
[[nodiscard]] tutti::miniapps::Metrics evaluate_model(const tutti::Communicator& comm, Engine& engine, BatchFeed& feed);

}  // namespace dlrm
