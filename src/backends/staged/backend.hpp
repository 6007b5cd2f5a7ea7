// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "call/backend.hpp"

namespace tutti::detail {

extern Backend staged_backend;

}  // namespace tutti::detail
