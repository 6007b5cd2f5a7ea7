// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <tutti/communicator.hpp>

#include "common/data_source.hpp"
#include "model.hpp"
#include "trainer.hpp"

namespace dlrm {

/// Writes tables, MLPs, optimizer state, position and the source's numbering of categories below
/// --checkpoint-dir; each shard of a table by its rank. What was there stays valid until the new checkpoint is whole,
/// then the oldest but --keep-checkpoints are removed. Collective over `comm`; blocking. Throws AgreedError.
void save_checkpoint(const tutti::Communicator& comm, Model& model, const Options& options,
                     const tutti::miniapps::DataSource& source, const Position& position);

/// Restores a model of the same shape from --load, on any number of ranks and with any sharding, and gives the position
/// to go on from. Tables may have more rows where the source continues the checkpoint's categories. Collective over
/// `comm`; blocking. Throws AgreedError for a missing or damaged checkpoint, for one of another model, and, if the run
/// is to go on from its position, for one that was trained with another seed, loss or data.
[[nodiscard]] Position load_checkpoint(const tutti::Communicator& comm, Model& model, const Options& options,
                                       const tutti::miniapps::DataSource& source);

/// The numbering of categories that the checkpoint of --load has; empty without one. Local. Throws tutti::Error.
[[nodiscard]] tutti::miniapps::CategoryValues saved_categories(const Options& options);

/// Whether the dense parameters are all numbers. Gradients of a diverged loss reach them all. Local.
[[nodiscard]] bool is_finite(Model& model);

}  // namespace dlrm
