// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tutti/communicator.hpp>

#include "model.hpp"
#include "options.hpp"
#include "run_results.hpp"

namespace sgd {

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
