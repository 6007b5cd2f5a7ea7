// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace tutti::test {

/// The library's names in /dev/shm that this process has made, oldest first: shared_names.cpp stands between the
/// library and shm_open. Names of other programs never count.
[[nodiscard]] std::vector<std::string> names_made();

/// Those of names_made() that are still there.
[[nodiscard]] std::vector<std::string> names_left();

}  // namespace tutti::test
