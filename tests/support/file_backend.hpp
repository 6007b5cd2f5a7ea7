// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "call/backend.hpp"

namespace tutti::test {

/// A backend whose messages are files of a common folder: slow, and right. It shows that a backend is one object: this
/// one is listed by `add_backend(file_backend)`, chosen by the name "file", and passes the tests of the collectives.
extern detail::Backend file_backend;

/// Executions that this rank has completed by files.
[[nodiscard]] int executions_by_files();

}  // namespace tutti::test
