// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

namespace tutti::miniapps {

/// p -= rate * g, as torch.optim.SGD. Equal lengths; local.
void sgd_update(std::span<float> parameters, std::span<const float> gradients, float rate);

/// state += g * g; p -= rate * g / (sqrt(state) + epsilon), as torch.optim.Adagrad with its defaults (state starts at
/// zero, the caller keeps it). Equal lengths; local.
void adagrad_update(std::span<float> parameters, std::span<const float> gradients, std::span<float> state, float rate,
                    float epsilon = 1e-10F);

}  // namespace tutti::miniapps
