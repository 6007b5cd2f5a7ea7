// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "call/machine.hpp"
#include "operation/signature.hpp"

namespace tutti::detail {

/// Returns an empty text if the host MPI's own collective gives what Tutti's would, else the reason why not: another
/// meaning, or a reduction that this MPI gets wrong.
[[nodiscard]] std::string why_native_differs(const Signature& signature, const Machine& machine);

}  // namespace tutti::detail
