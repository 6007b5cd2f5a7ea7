// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <tutti/communicator.hpp>

#include "options.hpp"
#include "report.hpp"
#include "source.hpp"

namespace sgd {

/// Trains once as the options say, from the seed's weights or a checkpoint, and tests at the end. `print` gets the
/// texts of rank 0 as they come. Collective; blocking. Equal on all ranks but for times.
[[nodiscard]] ModeResults run_mode(const tutti::Communicator& comm, const Options& options, const Source& source,
                                   const std::function<void(const std::string&)>& print);

}  // namespace sgd
