// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "diagnosis/trace/part.hpp"

namespace tutti::detail::trace {

/// A message: the call that sends it and the call that receives it.
struct Message {
  Link send{};
  Link recv{};
};

/// Matches sends with receives: of one communicator, source, destination and tag the n-th with the n-th. A message
/// whose receive does not know its source yet is left out.
[[nodiscard]] std::vector<Message> match_messages(const std::vector<Part>& parts);

}  // namespace tutti::detail::trace
