// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>
#include <tutti/communicator.hpp>

namespace tutti::commbench {

/// The begin of each file of results: program, version, date and machine. Local.
[[nodiscard]] nlohmann::ordered_json document_of(const Communicator& comm);

}  // namespace tutti::commbench
