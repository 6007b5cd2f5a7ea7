// SPDX-License-Identifier: BSD-3-Clause
#include "training/reducer/map_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tutti::detail::reducer {

std::string shape_text(std::span<const std::size_t> shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

std::string map_text(std::span<const GradientBucket> buckets, std::span<const Parameter> parameters) {
  std::string text = fmt::format("{:>6}  {:>12}  {:<8}  {}\n", "bucket", "bytes", "type", "parameters");
  for (const GradientBucket& bucket : buckets) {
    std::string head = fmt::format("{:>6}  {:>12}  {:<8}", bucket.index, bucket.data.count * bucket.data.type.size(),
                                   datatype_name(bucket.data.type.kind()));
    for (const BucketEntry& entry : bucket.entries) {
      text += fmt::format("{}  {} {} {}\n", head, entry.parameter, parameters[entry.parameter].name,
                          shape_text(entry.shape));
      head.assign(head.size(), ' ');
    }
  }
  return text;
}

}  // namespace tutti::detail::reducer
