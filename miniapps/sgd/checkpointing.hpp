// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <tutti/communicator.hpp>

#include "model.hpp"
#include "options.hpp"
#include "synchronizer.hpp"
#include "trainer.hpp"

namespace sgd {

/// Writes parameters, the optimizer's state, the position and what the mode keeps (buckets, errors fed back) below
/// --checkpoint-dir. What was there stays valid until the new checkpoint is whole, then the oldest but
/// --keep-checkpoints are removed. A state that is not a number is not saved, and is an error with --stop-on-nan.
/// `samples`: of training. Returns false if nothing was saved. Collective; blocking. Throws AgreedError.
template <typename Float>
bool save_checkpoint(const tutti::Communicator& comm, const Options& options, std::uint64_t samples,
                     const Model<Float>& model, const Synchronizer<Float>& synchronizer, const Position& position);

/// Restores a run of the same model, data and mode and gives the position to go on from; on another number of ranks
/// where no rank has state of its own. Collective; blocking. Throws AgreedError for a missing or damaged checkpoint and
/// for one of another run.
template <typename Float>
[[nodiscard]] Position load_checkpoint(const tutti::Communicator& comm, const Options& options, std::uint64_t samples,
                                       const Model<Float>& model, Synchronizer<Float>& synchronizer);

extern template bool save_checkpoint(const tutti::Communicator&, const Options&, std::uint64_t, const Model<float>&,
                                     const Synchronizer<float>&, const Position&);
extern template bool save_checkpoint(const tutti::Communicator&, const Options&, std::uint64_t, const Model<double>&,
                                     const Synchronizer<double>&, const Position&);
extern template Position load_checkpoint(const tutti::Communicator&, const Options&, std::uint64_t, const Model<float>&,
                                         Synchronizer<float>&);
extern template Position load_checkpoint(const tutti::Communicator&, const Options&, std::uint64_t,
                                         const Model<double>&, Synchronizer<double>&);

}  // namespace sgd
