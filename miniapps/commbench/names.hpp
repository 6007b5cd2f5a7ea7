// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "settings.hpp"

namespace tutti::commbench {

/// The names that may be written for each kind of thing, in order.
[[nodiscard]] std::vector<std::string> operation_names();
[[nodiscard]] std::vector<std::string> type_names();
[[nodiscard]] std::vector<std::string> op_names();

/// What a list of names stands for, each once; "all" is all of them. Throws std::invalid_argument that names the
/// option, the wrong name and the right ones.
[[nodiscard]] std::vector<Operation> parse_operations(const std::vector<std::string>& names);
[[nodiscard]] std::vector<Datatype> parse_types(const std::vector<std::string>& names);
[[nodiscard]] std::vector<ReduceKind> parse_ops(const std::vector<std::string>& names);
[[nodiscard]] std::vector<MemorySpace> parse_memory(const std::vector<std::string>& names);
[[nodiscard]] std::vector<Mode> parse_modes(const std::vector<std::string>& names);

}  // namespace tutti::commbench
