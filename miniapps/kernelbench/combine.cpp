// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>
#include <stdexcept>
#include <string>

#include "benchmarks.hpp"
#include "kernels/combine.hpp"
#include "measure.hpp"

namespace tutti::kernelbench {

namespace {

DatatypeKind type_of(const std::string& name) {
  for (int k = 1; k <= static_cast<int>(DatatypeKind::logical64); ++k) {
    if (name == datatype_name(static_cast<DatatypeKind>(k))) return static_cast<DatatypeKind>(k);
  }
  throw std::invalid_argument("--type: there is no datatype " + name);
}

ReduceKind op_of(const std::string& name) {
  for (int k = 1; k <= static_cast<int>(ReduceKind::maxloc); ++k) {
    if (name == reduce_op_name(static_cast<ReduceKind>(k))) return static_cast<ReduceKind>(k);
  }
  throw std::invalid_argument("--op: there is no operation " + name);
}

}  // namespace

nlohmann::json run_combine(const CombineSettings& s, int /*rank*/) {
  const Datatype type = type_of(s.type);
  const ReduceOp op = op_of(s.op);
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
