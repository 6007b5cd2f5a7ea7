// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "call/backend.hpp"

namespace tutti::detail {

extern Backend shm_backend;

}  // namespace tutti::detail
