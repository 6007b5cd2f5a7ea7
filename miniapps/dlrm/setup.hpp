// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "common/data_source.hpp"
#include "model.hpp"
#include "options.hpp"
#include "placement.hpp"

namespace dlrm {

/// The data that the options name. Local; throws tutti::Error naming flag or file.
[[nodiscard]] std::unique_ptr<tutti::miniapps::DataSource> make_source(const Options& options);

/// Sizes of the model for this data. Throws where --arch-mlp-bot does not fit its dense features.
[[nodiscard]] ModelShape make_shape(const Options& options, const tutti::miniapps::DataSource& source);

[[nodiscard]] Placement make_placement(const Options& options, const ModelShape& shape,
                                       const tutti::miniapps::DataSource& source, int ranks);

[[nodiscard]] tutti::kernels::RowOptimizer row_optimizer(const Options& options);

/// Memory of a rank's tables with their optimizer state.
[[nodiscard]] std::size_t table_bytes(const ModelShape& shape, const Placement& placement, int rank,
                                      tutti::kernels::RowOptimizer optimizer);

/// Gives the model its first weights. `source`: in --debug-mode its batches are walked over first, which moves the
/// generator that the weights come from.
void set_first_weights(const Options& options, tutti::miniapps::DataSource& source, Model& model);

}  // namespace dlrm
