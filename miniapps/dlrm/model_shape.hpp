// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "common/mlp.hpp"
#include "interaction.hpp"

namespace dlrm {

/// Shapes of a model: all that follows from options and data.
struct ModelShape {
  std::vector<std::size_t> bottom;
  std::vector<std::size_t> top;  ///< interaction width included
  std::vector<std::size_t> rows;
  std::size_t dim = 0;
  std::size_t max_batch = 0;  ///< largest global batch
  std::size_t blocks = 0;     ///< ReducerOptions::blocks: parts of each batch that are computed one after the other
  InteractionShape interaction;
  tutti::miniapps::Products products = tutti::miniapps::Products::automatic;
};

}  // namespace dlrm
