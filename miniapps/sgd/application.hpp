// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tutti/communicator.hpp>

#include "options.hpp"

namespace sgd {

/// Trains and tests as the options say, by one mode or by each (--compare); rank 0 prints. Collective over `comm`;
/// blocking. Throws tutti::miniapps::AgreedError for what all ranks know of, anything else for what only this rank
/// does.
void run_application(const tutti::Communicator& comm, const Options& options);

}  // namespace sgd
