// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/kernels/device.hpp>

#include "device.hpp"
#include "names.hpp"

namespace tutti::kernelbench {

nlohmann::json run_device_combine(const CombineSettings& s, int rank) {
  const Queue queue(rank);
  const Datatype type = datatype_named(s.type);
  const ReduceOp op = op_named(s.op);
  const double copied = copy_bandwidth(queue, s.rounds);
  const DeviceArray<std::byte> memory((s.inputs + 1) * s.bytes);
  queue.clear(memory.data(), memory.bytes());
  std::vector<const void*> inputs;
  for (std::size_t k = 0; k < s.inputs; ++k) inputs.push_back(memory.data() + k * s.bytes);
  const auto seconds =
      queue.measure_queued({{"combine",
                             [&](int) {
                               kernels::device::combine(type, op, inputs, memory.data() + s.inputs * s.bytes,
                                                        s.bytes / type.size(), queue.stream());
                             }}},
                           s.rounds);
  const double combined = static_cast<double>((s.inputs + 1) * s.bytes) / seconds[0];
  return {{"type", s.type},
          {"op", s.op},
          {"inputs", s.inputs},
          {"bytes", s.bytes},
          {"combine_us", seconds[0] * 1e6},
          {"combine_gb_per_s", combined / 1e9},
          {"copy_gb_per_s", copied / 1e9},
          {"combine_over_copy", combined / copied}};
}

}  // namespace tutti::kernelbench
