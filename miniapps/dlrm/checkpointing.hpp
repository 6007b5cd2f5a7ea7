// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <tutti/communicator.hpp>

#include "model.hpp"
#include "trainer.hpp"

namespace dlrm {

/// Writes tables, MLPs, optimizer state and position to the folder; each shard of a table by its rank. What the folder
/// held stays valid until the new checkpoint is whole. Collective over `comm`; blocking. Throws AgreedError.
void save_checkpoint(const tutti::Communicator& comm, const std::filesystem::path& folder, Model& model,
                     const Options& options, const Position& position);

/// Restores a model of the same shape, on any number of ranks and with any sharding, and gives the position to go on
/// from. Collective over `comm`; blocking. Throws AgreedError for a missing or damaged checkpoint and for one of
/// another model.
[[nodiscard]] Position load_checkpoint(const tutti::Communicator& comm, const std::filesystem::path& folder,
                                       Model& model, const Options& options);

}  // namespace dlrm
