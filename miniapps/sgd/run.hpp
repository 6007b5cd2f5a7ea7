// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <tutti/communicator.hpp>

#include "model.hpp"
#include "options.hpp"
#include "report.hpp"
#include "run_results.hpp"
#include "source.hpp"

namespace sgd {

/// Trains and tests as the options say, by one mode or by each (--compare); rank 0 prints. Collective over `comm`;
/// blocking. Throws tutti::miniapps::AgreedError for what all ranks know of, anything else for what only this rank
/// does.
void run_application(const tutti::Communicator& comm, const Options& options);

/// Trains once as the options say, from the seed's weights or a checkpoint, and tests at the end. `print` gets the
/// texts of rank 0 as they come. Collective; blocking. Equal on all ranks but for times.
[[nodiscard]] ModeResults run_mode(const tutti::Communicator& comm, const Options& options, const Source& source,
                                   const std::function<void(const std::string&)>& print);

/// Predicts all samples of a split, each rank a part of them. Equal on all ranks. Collective; blocking. Throws
/// tutti::miniapps::AgreedError where training has diverged (scores that are not numbers).
template <typename Float>
[[nodiscard]] Evaluation evaluate_model(const tutti::Communicator& comm, const Options& options, const Source& source,
                                        Split split, Model<Float>& model);

extern template Evaluation evaluate_model(const tutti::Communicator&, const Options&, const Source&, Split,
                                          Model<float>&);
extern template Evaluation evaluate_model(const tutti::Communicator&, const Options&, const Source&, Split,
                                          Model<double>&);

}  // namespace sgd
