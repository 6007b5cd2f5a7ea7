// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/combine_dispatch.hpp"
#include "kernels/device/combine_launch.hpp"

namespace tutti::kernels::device {

bool combine_pairs(const CombineJob& job) {
  return visit_pair(job.type, job.op, [&](const auto& functor) {
    launch_combine(job.stream, functor, job.inputs, job.output, job.count);
  });
}

}  // namespace tutti::kernels::device
