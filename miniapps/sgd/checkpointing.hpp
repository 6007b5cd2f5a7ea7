// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <tutti/communicator.hpp>

#include "model.hpp"
#include "options.hpp"
#include "synchronizer.hpp"
#include "trainer.hpp"

namespace sgd {

/// Writes parameters, the optimizer's state, the position and what the mode keeps (buckets, errors fed back) to the
/// folder. What it held stays valid until the new checkpoint is whole. Collective; blocking. Throws AgreedError.
template <typename Float>
void save_checkpoint(const tutti::Communicator& comm, const Options& options, const Model<Float>& model,
                     const Synchronizer<Float>& synchronizer, const Position& position);

/// Restores a run of the same model, data and mode and gives the position to go on from; on another number of ranks
/// where no rank has state of its own. Collective; blocking. Throws AgreedError for a missing or damaged checkpoint and
/// for one of another run.
template <typename Float>
[[nodiscard]] Position load_checkpoint(const tutti::Communicator& comm, const Options& options,
                                       const Model<Float>& model, Synchronizer<Float>& synchronizer);

extern template void save_checkpoint(const tutti::Communicator&, const Options&, const Model<float>&,
                                     const Synchronizer<float>&, const Position&);
extern template void save_checkpoint(const tutti::Communicator&, const Options&, const Model<double>&,
                                     const Synchronizer<double>&, const Position&);
extern template Position load_checkpoint(const tutti::Communicator&, const Options&, const Model<float>&,
                                         Synchronizer<float>&);
extern template Position load_checkpoint(const tutti::Communicator&, const Options&, const Model<double>&,
                                         Synchronizer<double>&);

}  // namespace sgd
