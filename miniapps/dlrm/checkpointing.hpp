// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <tutti/checkpoint.hpp>
#include <tutti/communicator.hpp>

#include "common/data_source.hpp"
#include "model.hpp"
#include "trainer.hpp"

namespace dlrm {

/// Saves of a run: writes tables, MLPs, optimizer state, position and the source's numbering of categories below
/// --checkpoint-dir; each shard of a table by its rank. What was there stays valid until the new checkpoint is whole,
/// then the oldest but --keep-checkpoints are removed, and rank 0 prints bytes and seconds. A state that is not a
/// number is not saved, and is an error with
/// --stop-on-nan.
class Checkpoints {
 public:
  Checkpoints(const tutti::Communicator& comm, const Options& options) : comm_(&comm), options_(&options) {}
  /// Waits for the save before, and saves; with --async-save it only starts to. Collective; blocking. Throws
  /// AgreedError.
  void save(Model& model, const tutti::miniapps::DataSource& source, const Position& position);
  /// Ends a save that has been written. Collective, at the same places on all ranks. Throws AgreedError.
  void progress();
  /// Waits for the save that was started. Collective; blocking. Throws AgreedError.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  /// Calls end(), which returns whether the save has ended.
  template <typename End>
  void end_with(const End& end);
  /// Says that the state is not a number.
  void refuse();
  /// Prints what the save of a step has written. On one rank.
  void report(const Position& at, const std::filesystem::path& folder) const;

  const tutti::Communicator* comm_;
  const Options* options_;
  tutti::CheckpointSave under_way_;
  std::optional<Position> position_;  ///< of the save that is under way
  Clock::time_point begin_;           ///< of it
};

/// Restores a model of the same shape from --load, on any number of ranks and with any sharding, and gives the position
/// to go on from. Tables may have more rows where the source continues the checkpoint's categories. Collective over
/// `comm`; blocking. Throws AgreedError for a missing or damaged checkpoint, for one of another model, and, if the run
/// is to go on from its position, for one that was trained with another seed, loss or data.
[[nodiscard]] Position load_checkpoint(const tutti::Communicator& comm, Model& model, const Options& options,
                                       const tutti::miniapps::DataSource& source);

/// The numbering of categories that the checkpoint of --load has; empty without one. Local. Throws tutti::Error.
[[nodiscard]] tutti::miniapps::CategoryValues saved_categories(const Options& options);

}  // namespace dlrm
