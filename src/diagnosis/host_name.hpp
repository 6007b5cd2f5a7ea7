// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <unistd.h>

#include <array>
#include <string>

namespace tutti::detail::flight {

/// The name of this host, as recorders have it.
[[nodiscard]] inline std::string host_name() {
  std::array<char, 64> name{};
  (void)gethostname(name.data(), name.size() - 1);
  return name.data();
}

}  // namespace tutti::detail::flight
