// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/kernels/device.hpp>

#include "device.hpp"

namespace tutti::kernelbench {

nlohmann::json run_device_interaction(const InteractionSettings& s, int rank) {
  using namespace tutti::kernels;
  const Queue queue(rank);
  const double copied = copy_bandwidth(queue, s.rounds);
  const DotInteraction shape{s.features, s.dim};
  const std::size_t values = s.features * s.dim * s.batch;
  const auto vectors = queue.upload(std::vector<float>(values, 0.5F));
  const DeviceArray<float> gradients(values);
  const DeviceArray<float> crossed(s.batch * shape.width());
  std::vector<Pooled<const float>> inputs;
  std::vector<Pooled<float>> outputs;
  for (std::size_t f = 0; f < s.features; ++f) {
    inputs.push_back({vectors.data() + f * s.dim, s.features * s.dim});
    outputs.push_back({gradients.data() + f * s.dim, s.features * s.dim});
  }
  kernels::device::Workspace workspace;
  const auto seconds = queue.measure_queued(
      {{"forward",
        [&](int) {
          kernels::device::dot_interaction_forward(shape, s.batch, inputs, crossed.data(), shape.width(), workspace,
                                                   queue.stream());
        }},
       {"backward",
        [&](int) {
          kernels::device::dot_interaction_backward(shape, s.batch, inputs, crossed.data(), shape.width(), outputs,
                                                    workspace, queue.stream());
        }}},
      s.rounds);
  const auto forward_bytes = static_cast<double>((values + crossed.size()) * sizeof(float));
  const auto backward_bytes = static_cast<double>((2 * values + crossed.size()) * sizeof(float));
  return {{"features", s.features},
          {"dim", s.dim},
          {"batch", s.batch},
          {"copy_gb_per_s", copied / 1e9},
          {"forward_us", seconds[0] * 1e6},
          {"forward_gb_per_s", forward_bytes / seconds[0] / 1e9},
          {"forward_over_copy", forward_bytes / seconds[0] / copied},
          {"backward_us", seconds[1] * 1e6},
          {"backward_gb_per_s", backward_bytes / seconds[1] / 1e9},
          {"backward_over_copy", backward_bytes / seconds[1] / copied}};
}

}  // namespace tutti::kernelbench
