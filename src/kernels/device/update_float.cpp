// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/device/update_launch.hpp"

namespace tutti::kernels::device {

template void update_group<float>(const UpdateJob&, const TableGroup&, RowOptimizer, StreamHandle);

}  // namespace tutti::kernels::device
