// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>
#include <tutti/kernels/combine.hpp>

#include "benchmarks.hpp"
#include "measure.hpp"
#include "names.hpp"

namespace tutti::kernelbench {

nlohmann::json run_combine(const CombineSettings& s, int /*rank*/) {
  const Datatype type = datatype_named(s.type);
  const ReduceOp op = op_named(s.op);
  std::vector<std::vector<std::byte>> inputs(s.inputs, std::vector<std::byte>(s.bytes, std::byte{1}));
  std::vector<std::byte> output(s.bytes);
  std::vector<const void*> pointers;
  for (const auto& input : inputs) pointers.push_back(input.data());
  const auto seconds =
      measure({{"memcpy", [&](int) { std::memcpy(output.data(), inputs[0].data(), s.bytes); }},
               {"combine", [&](int) { kernels::combine(type, op, pointers, output.data(), s.bytes / type.size()); }}},
              s.rounds);
  const auto bytes = static_cast<double>(s.bytes);
  const double copied = 2 * bytes / seconds[0] / 1e9;
  const double combined = static_cast<double>(s.inputs + 1) * bytes / seconds[1] / 1e9;
  return {{"type", s.type},
          {"op", s.op},
          {"inputs", s.inputs},
          {"bytes", s.bytes},
          {"combine_us", seconds[1] * 1e6},
          {"combine_gb_per_s", combined},
          {"memcpy_gb_per_s", copied},
          {"combine_over_memcpy", combined / copied}};
}

}  // namespace tutti::kernelbench
