// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "common/numpy_random.hpp"
#include "model.hpp"

namespace dlrm {

/// The reference's first weights: tables 0...T-1 uniform in +-sqrt(1/rows), then the bottom MLP, the cross network
/// where there is one, and the top MLP, from one stream. Every rank draws all of it and keeps what it owns, so that the
/// weights do not depend on the number of ranks.
void draw_weights(Model& model, tutti::miniapps::NumpyRandom& random);

/// The same distributions, the tables from a counter-based generator of which every rank computes its own part only.
/// Not the reference's numbers.
void fast_weights(Model& model, std::uint32_t seed);

}  // namespace dlrm
