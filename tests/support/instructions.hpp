// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <optional>

namespace tutti::test {

/// The number of instructions of this program itself, and of none of its shared libraries, that this thread runs in an
/// action: times differ from run to run, instructions do not. A child of the process steps through the action, so it
/// takes some microseconds an instruction. Empty where processes may not be traced, or on processors other than x86-64.
[[nodiscard]] std::optional<long> own_instructions_of(const std::function<void()>& action);

}  // namespace tutti::test
