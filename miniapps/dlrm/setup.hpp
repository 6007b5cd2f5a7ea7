// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <tutti/topology.hpp>

#include "common/data_source.hpp"
#include "common/numpy_random.hpp"
#include "model.hpp"
#include "model_shape.hpp"
#include "options.hpp"

namespace dlrm {

/// The data that the options name. `file_rows`: as rows_of_files() says. Local; throws
/// tutti::Error naming flag or file.
[[nodiscard]] std::unique_ptr<tutti::miniapps::DataSource> make_source(const Options& options,
                                                                       std::vector<std::uint64_t> file_rows = {});

/// Sizes of the model for this data. Throws where --arch-mlp-bot does not fit its dense features.
[[nodiscard]] ModelShape make_shape(const Options& options, const tutti::miniapps::DataSource& source);

/// How many batches a thread of each rank reads ahead: as --prefetch says, or by what the ranks may use of their nodes.
[[nodiscard]] std::uint64_t feed_ahead(const Options& options, const tutti::Topology& topology);

/// Gives the model its first weights. `source`: in --debug-mode its batches are walked over first, which moves the
/// generator that the weights come from.
void set_first_weights(const Options& options, tutti::miniapps::DataSource& source, Model& model);

/// The reference's first weights: tables 0...T-1 uniform in +-sqrt(1/rows), then the bottom MLP, the cross network
/// where there is one, and the top MLP, from one stream. Every rank draws all of it and keeps what it owns, so that the
/// weights do not depend on the number of ranks.
void draw_weights(Model& model, tutti::miniapps::NumpyRandom& random);

/// The same distributions, the tables from a counter-based generator of which every rank computes its own part only.
/// Not the reference's numbers.
void fast_weights(Model& model, std::uint32_t seed);

}  // namespace dlrm
