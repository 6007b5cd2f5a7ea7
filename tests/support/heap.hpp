// SPDX-License-Identifier: BSD-3-Clause
// Operators new and delete of a test that counts what it takes from the heap, or lets the heap run out.
#pragma once

#include <cstddef>

namespace tutti::test {

/// So many allocations this process has made, or tried, by operator new.
[[nodiscard]] std::size_t allocations();
/// The bytes of all of them, whether they were given back or not.
[[nodiscard]] std::size_t allocated_bytes();

/// From now on so many allocations of this process succeed; the next throws std::bad_alloc, and so do all after it.
void allow_allocations(int count);

/// All succeed again. Returns whether one was refused.
bool allow_all_allocations();

}  // namespace tutti::test
