// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <tutti/communicator.hpp>
#include <tutti/sharding_plan.hpp>

#include "collectives/services.hpp"

namespace tutti::detail {

/// Adds the tables' configurations to a hash of arguments that ranks must pass alike.
void add_tables(Hash& hash, std::span<const EmbeddingTableConfig> tables);

/// Throws Error(mismatch) on all ranks if the hash differs between any two; `what` names the arguments. Collective;
/// blocking.
void check_alike(const Communicator& comm, const Hash& hash, const std::string& what);

}  // namespace tutti::detail
