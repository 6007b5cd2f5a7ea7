// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tutti/detail/export.hpp>

namespace tutti {

/// Gives the place of this thread's next call of the library, for the texts of check mode. Without it check mode finds
/// the place on the stack, which needs debug information for file and line. Local, never blocks; copies the texts; does
/// nothing unless a communicator is in check mode.
TUTTI_EXPORT void at(const char* file, int line, const char* function) noexcept;

}  // namespace tutti

/// This place: `TUTTI_HERE, tutti::barrier(comm);`
#define TUTTI_HERE ::tutti::at(__FILE__, __LINE__, static_cast<const char*>(__func__))
