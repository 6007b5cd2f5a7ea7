// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/comm.hpp"

namespace tutti::detail::nccl {

struct Comm::State {};

Comm::~Comm() = default;

}  // namespace tutti::detail::nccl
